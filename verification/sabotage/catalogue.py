"""All mutations, of the library and of the statements."""

from __future__ import annotations

from verification.sabotage import beyond_the_paper, of_library, of_statements
from verification.sabotage.mutation import Mutation

MUTATIONS: dict[str, Mutation] = {
    mutation.id: mutation
    for mutation in of_library.MUTATIONS + of_statements.MUTATIONS + beyond_the_paper.MUTATIONS
}
