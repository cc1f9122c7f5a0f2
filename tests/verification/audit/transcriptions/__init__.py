"""The formulas of all steps a second time, from the paper's LaTeX source or from the statement of a repair.

An entry has the line of the source, the formulas, the values of their symbols, and how the slack follows from
these. It was made from the paper's text, not from the audit's code. Norms and sums that stand for one number
are symbols. A step that is not in the paper has no line but a reason.
"""

from tests.verification.audit.transcriptions import (
    lemmas,
    proposition_1,
    section_4,
    theorem_1,
    theorem_2,
    theorem_2_constants,
)

_PARTS = (section_4, proposition_1, theorem_1, lemmas, theorem_2, theorem_2_constants)
TRANSCRIPTIONS = {key: entry for part in _PARTS for key, entry in part.TRANSCRIPTIONS.items()}
