"""The command ``python -m verification sabotage``: change one thing, and see which claim notices."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from verification.cli.options import add_seed, positive
from verification.cli.progress import Bar
from verification.engine.files import write_whole
from verification.engine.tables import table_to_csv
from verification.sabotage.catalogue import MUTATIONS
from verification.sabotage.drawing import draw_mutations
from verification.sabotage.mutation import Mutation
from verification.sabotage.running import Sighting, run_mutations


def main(arguments: Sequence[str]) -> int:
    """Run the catalogue: 0 if all went as the catalogue says, 1 if not, 2 for a bad call."""
    options = _parser().parse_args(arguments)
    if options.list:
        for mutation in MUTATIONS.values():
            print(f"{mutation.id:26} {mutation.what}")
        return 0
    if options.drawn:
        return _run(draw_mutations(options.drawn, options.seed), options)
    unknown = [name for name in options.only or () if name not in MUTATIONS]
    if unknown:
        print(f"--only: no mutation is called {unknown[0]!r}; --list shows them all", file=sys.stderr)
        return 2
    chosen = [mutation for name, mutation in MUTATIONS.items() if not options.only or name in options.only]
    return _run(chosen, options)


def _run(chosen: Sequence[Mutation], options: argparse.Namespace) -> int:
    with Bar(options.quiet) as bar:
        bar.expect(len(chosen), "sabotage")
        found = run_mutations(chosen, seed=options.seed, progress=bar.step, apart=bool(options.drawn))
    _print(found)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        write_whole(options.out / "sabotage.csv", table_to_csv(rows(found)))
    return 0 if all(item.is_as_expected for item in found) else 1


def rows(found: Sequence[Sighting]) -> list[dict[str, str]]:
    """Give the lines of the table: each mutation, who saw it, or why nobody can."""
    return [
        {
            "mutation": item.mutation.id,
            "what": item.mutation.what,
            "seen by": item.seen_by or "nobody",
            "why not": "" if item.seen_by else item.mutation.unseen,
            "would have been caught": "" if item.seen_by else item.caught,
        }
        for item in found
    ]


def _print(found: Sequence[Sighting]) -> None:
    for item in found:
        mark = "" if item.is_as_expected else "UNEXPECTED "
        said = item.seen_by or f"not seen: {item.mutation.unseen or 'no reason is known'}"
        print(f"{item.mutation.id:26} {mark}{said}")
    seen = sum(bool(item.seen_by) for item in found)
    unexplained = sum(not item.is_as_expected for item in found)
    seconds = sum(item.seconds for item in found)
    print(
        f"\n{seen} of {len(found)} mutations seen, {len(found) - seen} not; "
        f"{unexplained} other than the catalogue says; {seconds:.0f} s"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m verification sabotage",
        description="Change the library or a statement in one place at a time, and run the claims that "
        "should notice, in the smoke profile.",
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="one mutation; repeatable")
    parser.add_argument(
        "--drawn",
        type=positive,
        metavar="N",
        help="in place of the catalogue, N changes of single lines that nobody chose, drawn by the seed",
    )
    parser.add_argument("--list", action="store_true", help="list the mutations and stop")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write sabotage.csv there")
    add_seed(parser)
    return parser
