"""Mutations that are drawn: the same for a seed, and seen in a process of their own."""

import pytest

from verification import claims
from verification.cli.main import main
from verification.sabotage.changes import function_of, is_compiled
from verification.sabotage.drawing import PLACES, CodeMutation, draw_mutations
from verification.sabotage.running import run_mutations

WRONG = (lambda state, rng: {"delta / tail": 1.0}).__code__
HANGING = compile("def trial(state, rng):\n    raise SystemExit", "", "exec").co_consts[0]


def mutation(code):
    return CodeMutation("", "", "verification.claims.lemma_2:trial", lambda honest: code, ("lemma-2",))


def test_claims_of_all_places_exist():
    assert {name for names in PLACES.values() for name in names} <= set(claims.load())


def test_a_seed_draws_the_same_and_each_changes_its_function_and_changes_it_back():
    drawn = draw_mutations(6, 11)
    assert [item.id for item in drawn] == [item.id for item in draw_mutations(6, 11)]
    assert [item.id for item in drawn] != [item.id for item in draw_mutations(6, 12)]
    for item in drawn:
        function = function_of(*item.target.split(":"))
        honest = function.__code__
        with item.applied():
            assert function.__code__ is not honest
        assert function.__code__ is honest


def test_kernels_are_left_out():
    assert not is_compiled("lslmatch.theory", "noise_floor")
    assert all(not is_compiled(*item.target.split(":")) for item in draw_mutations(20, 3))


@pytest.mark.parametrize(("code", "said"), [(WRONG, "lemma-2: broken"), (HANGING, "hangs or crashes")])
def test_what_a_drawn_mutation_breaks_is_seen_in_a_process_apart(code, said):
    honest = function_of("verification.claims.lemma_2", "trial").__code__
    (found,) = run_mutations([mutation(code)], seed=3, apart=True)
    assert found.seen_by.startswith(said)
    assert function_of("verification.claims.lemma_2", "trial").__code__ is honest


def test_the_command_draws(monkeypatch, capsys):
    from verification.cli import sabotage_command

    monkeypatch.setattr(sabotage_command, "draw_mutations", lambda count, seed: [mutation(WRONG)] * count)
    assert main(["sabotage", "--drawn", "1", "--seed", "3", "--quiet"]) == 0
    assert "1 of 1 mutations seen" in capsys.readouterr().out
