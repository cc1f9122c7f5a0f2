"""The command ``python -m tests.benchmarks``: time, compare with the baseline, remember, draw."""

import argparse
import fnmatch
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks import growth, memory, pictures, plan, ratios, record, startup, tables
from tests.benchmarks.instances import catalogue, smoke_catalogue
from tests.benchmarks.isolated import CHECKOUT, child_environment
from tests.benchmarks.peers import OURS, installed_peers, missing_packages

_HERE = Path(__file__).resolve().parent
#: How often a suspicious case is timed again before it counts as a loss.
_SECOND_CHANCES = 3


def main(arguments=None):
    """Run the command; the status is 1 if a ratio was lost, or if compiling takes longer."""
    options = _parser().parse_args(arguments)
    results = options.folder / "results"
    if options.history:
        pictures.draw_history(record.read_history(options.folder / "history.jsonl"), results)
        return 0
    if options.table:
        baseline = record.read_baseline(options.folder / "baseline.json")
        print(tables.ratio_tables(baseline.seconds))
        print(tables.summary_lines(baseline.seconds))
        return 0
    missing = missing_packages()
    if missing and not options.smoke:
        print(f"not installed: {', '.join(missing)}; the extra 'bench' brings them", file=sys.stderr)
        return 2
    if options.growth:
        return _measure_growth(options, results)
    if options.memory:
        return _measure_memory(options, results)
    return _compare(options, results)


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Time the library beside its peers and compare the ratios with the baseline.",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--update", action="store_true", help="survey all peers and renew the baseline")
    what.add_argument("--table", action="store_true", help="print the baseline's ratios as in the README")
    what.add_argument("--history", action="store_true", help="draw the history of the ratios")
    what.add_argument("--growth", action="store_true", help="measure time against n, and draw it")
    what.add_argument("--memory", action="store_true", help="measure peak memory of large matches")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="only up to 2,000 points")
    size.add_argument("--smoke", action="store_true", help="tiny instances, to try the machinery")
    parser.add_argument("--only", metavar="PATTERN", help="cases whose name matches, as match-near-*-d20")
    parser.add_argument(
        "--limit", type=float, default=300.0, help="seconds for one match (--growth, --memory)"
    )
    parser.add_argument(
        "--minutes", type=float, default=math.inf, help="about how long; large cases are left as they were"
    )
    parser.add_argument("--folder", type=Path, default=_HERE, help="where baseline, history and results are")
    return parser


# -------------------------------------------------------------------------------- the comparison


def _compare(options, results):
    load = os.getloadavg()[0]
    if record.busy(load) and not options.smoke:
        print(f"WARNING: the load average is {load:.1f}: others are at work, which flatters the ratios")
        if options.update:
            print("No baseline is made on a busy machine.", file=sys.stderr)
            return 2
    baseline = record.read_baseline(options.folder / "baseline.json")
    cases = _selected(options)
    started = _start(options)
    surveyed = _surveys(cases, options, baseline)
    surveys = baseline.surveys | surveyed
    reached = surveyed if options.update else surveys
    late = [case for case in cases if case not in reached]
    cases = [case for case in cases if case in reached]
    entries = plan.smoke_plan() if options.smoke else plan.make_plan({c: surveys[c] for c in cases})
    known = plan.long_times({c: surveys[c] for c in cases}) if options.update else {}
    entries = [entry for entry in entries if entry.case in cases and entry.case not in known]
    seconds = known | (_time(entries) if entries else {})
    for _ in range(_SECOND_CHANCES):
        suspicious = [] if options.update else ratios.losses(seconds, baseline.seconds)
        if not suspicious:
            break
        print("timing again:", ", ".join(case.name for case in suspicious), flush=True)
        seconds = ratios.merge(seconds, _time([entry for entry in entries if entry.case in suspicious]))
    lost = [] if options.update else ratios.losses(seconds, baseline.seconds)
    compilation, known_units = _compilation(options, baseline)
    longer = [] if options.update else ratios.longer(compilation, known_units)

    print(tables.case_table(seconds, baseline.seconds, surveys))
    print(tables.ratio_tables(seconds))
    print(tables.summary_lines(seconds))
    print("\n".join(f"{what}: {value:.2f} s" for what, value in started.items()))
    print("\n".join(f"compiling, {what}: {units:.1f} yardsticks" for what, units in compilation.items()))
    circumstances = record.circumstances(load) | {"compilation": known_units | compilation}
    _keep(options, results, baseline, record.Baseline(seconds, surveys, circumstances), started)
    for case in late:
        print(f"NO TIME LEFT: {case.name} is as before in the baseline, if it is there at all")
    for case in cases:
        if case not in seconds:
            print(f"NOT COMPARED: {case.name}: no contestant ended within its limit")
    for case in lost:
        now, then = ratios.ratio(seconds[case]), ratios.ratio(baseline.seconds[case])
        print(f"LOST: {case.name}: the ratio was {then:.2f} and is {now:.2f}")
    for what in longer:
        now, then = compilation[what], known_units[what]
        print(f"LONGER: compiling, {what}: it was {then:.1f} yardsticks and is {now:.1f}")
    if not options.update and not baseline.seconds:
        print("There is no baseline to compare with; --update makes one.")
    return 1 if lost or longer else 0


def _start(options):
    """Measure start-up, but not in a run that is only after some cases."""
    if options.only:
        return {}
    return startup.measure(10, 20, cold=False) if options.smoke else startup.measure()


def _compilation(options, baseline):
    """Measure what is compiled, again where it seems to take longer, and give the baseline's, too."""
    known = baseline.circumstances.get("compilation", {})
    if options.only or options.smoke:
        return {}, known
    found = startup.compilation()
    if ratios.longer(found, known):
        found = {what: min(units, found[what]) for what, units in startup.compilation().items()}
    return found, known


def _selected(options):
    cases = smoke_catalogue() if options.smoke else catalogue(2000 if options.quick else 20_000)
    chosen = [case for case in cases if fnmatch.fnmatch(case.name, options.only or "*")]
    # The large ones last, so that they are those that are left out if time runs out.
    return sorted(chosen, key=lambda case: case.n * (case.m or case.n))


def _surveys(cases, options, baseline):
    """Survey what the baseline does not know, or everything when it is renewed, as long as there is time.

    Timing takes about as long as the survey does.
    """
    found = {}
    deadline = time.monotonic() + 30.0 * options.minutes
    for case in cases:
        if time.monotonic() > deadline:
            break
        if options.smoke:
            found[case] = {}
        elif options.update or case not in baseline.surveys:
            found[case] = plan.survey(case)
            words = (f"{name} {'stopped' if s is None else f'{s:.3g} s'}" for name, s in found[case].items())
            print(f"survey of {case.name}: {', '.join(words)}", flush=True)
    return found


def _time(entries):
    """Run the tests of `test_speed.py` on a plan in another process, and collect the least times."""
    with tempfile.TemporaryDirectory() as folder:
        plan_file, report = Path(folder) / "plan.json", Path(folder) / "report.json"
        plan.write_plan(entries, plan_file)
        command = [sys.executable, "-m", "pytest", str(_HERE / "test_speed.py"), "-q", "--benchmark-enable"]
        command += ["-p", "no:cacheprovider", "--benchmark-disable-gc", f"--benchmark-json={report}"]
        # Only what the tests say about failures: the table of pytest-benchmark is not the one we want.
        command += ["--no-header", "--no-summary", "--benchmark-columns=min", "--benchmark-sort=name"]
        environment = child_environment() | {plan.VARIABLE: str(plan_file)}
        done = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"the timing run failed:\n{done.stdout}\n{done.stderr}")
        timings = json.loads(report.read_text(encoding="utf-8"))
    for name, quotient in ratios.unsteady(timings).items():
        print(f"unsteady: {name}: its median was {quotient:.1f} times its least time")
    return ratios.least_seconds(timings)


def _keep(options, results, baseline, measured, started):
    """Write the JSON of this run, a line of history, and with --update the baseline and its table."""
    results.mkdir(parents=True, exist_ok=True)
    record.write_baseline(results / "latest.json", measured._replace(surveys=_of(measured)))
    selection = "smoke" if options.smoke else "quick" if options.quick else "full"
    line = measured.circumstances | {
        "selection": f"{selection}, only {options.only}" if options.only else selection,
        "summary": ratios.summary(measured.seconds),
        "startup": started,
    }
    record.append_history(options.folder / "history.jsonl", line)
    if options.update:
        known = set(smoke_catalogue() if options.smoke else catalogue(20_000))
        kept = {case: times for case, times in baseline.seconds.items() if case in known}
        renewed = measured._replace(seconds=kept | measured.seconds)
        record.write_baseline(options.folder / "baseline.json", renewed._replace(surveys=_of(renewed)))
        (results / "ratios.md").write_text(tables.ratio_tables(renewed.seconds), encoding="utf-8")


def _of(measured):
    return {case: measured.surveys[case] for case in measured.seconds}


# ---------------------------------------------------------------------- what only --growth and --memory do


def _measure_growth(options, results):
    sizes = [n for n in growth.SIZES if n <= 2000 or not options.quick]
    contestants = [OURS, *installed_peers()]
    if options.smoke:
        sizes, contestants = [20], [OURS]
    points = growth.measure(contestants, sizes, options.limit, lambda point: print(*point, flush=True))
    growth.write_points(results / "growth.csv", points)
    pictures.draw_growth(points, results)
    for (kind, contestant), run in growth.series(points).items():
        power = growth.exponent(run)
        print(f"{kind} {contestant}: " + (f"n to the {power:.2f}" if power else "too few points to fit"))
    return 0


def _measure_memory(options, results):
    cases = [case._replace(n=2000) if options.quick else case for case in memory.CASES]
    if options.smoke:
        cases = [memory.CASES[0]._replace(n=20)]
    found = memory.measure(cases, options.limit, lambda result: print(memory.describe(result), flush=True))
    results.mkdir(parents=True, exist_ok=True)
    kept = record.circumstances(os.getloadavg()[0]) | {"results": found}
    (results / "memory.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0
