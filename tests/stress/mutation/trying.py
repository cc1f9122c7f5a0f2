"""A plugin of pytest that tries mutants in place of running the tests once."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from verification.sabotage.changes import Mutant, function_of
from verification.sabotage.elsewhere import run_elsewhere

Row = dict[str, Any]


class Trial(NamedTuple):
    """A mutant, and the module that it belongs to."""

    module: str
    mutant: Mutant

    @property
    def function(self) -> Any:
        """The function to be changed, below properties, caches and compilation."""
        return function_of(self.module, self.mutant.function)


class Trying:
    """Notes which tests call which functions, then tries one mutant after the other."""

    def __init__(self, trials: Sequence[Trial], budget: float) -> None:
        self._trials, self._budget = trials, budget
        self._calls: dict[int, tuple[float, set[str]]] = {}
        self._found: list[tuple[str, int]] = []
        self.is_done = False

    def pytest_runtestloop(self, session: Any) -> bool:
        """Take the place of pytest's own loop."""
        passed, self._calls = run_elsewhere(lambda: self._first_pass(session), 1e9) or (False, {})
        if not passed:
            return True
        started = time.monotonic()
        for done, trial in enumerate(self._trials, 1):
            self._found.append(self._try(session, trial))
            if done % 20 == 0:
                noticed = sum(found != "no" for found, _ in self._found)
                seconds = time.monotonic() - started
                print(f"{done} of {len(self._trials)}, {noticed} noticed, {seconds:.0f} s", flush=True)
        self.is_done = True
        return True

    def rows(self) -> list[Row]:
        """Give a line for each mutant."""
        return [
            {
                "module": trial.module,
                "function": trial.mutant.function,
                "line": trial.mutant.line,
                "change": trial.mutant.change,
                "tests": tests,
                "noticed": noticed,
            }
            for trial, (noticed, tests) in zip(self._trials, self._found, strict=True)
        ]

    def _first_pass(self, session: Any) -> tuple[bool, dict[int, tuple[float, set[str]]]]:
        watched = {_key(trial.function.__code__) for trial in self._trials}
        calls: dict[int, tuple[float, set[str]]] = {}
        for k, item in enumerate(session.items):
            seen: set[str] = set()

            def watch(frame: Any, event: str, argument: Any, seen: set[str] = seen) -> None:
                if event == "call" and (key := _key(frame.f_code)) in watched:
                    seen.add(key)

            started = time.process_time()  # a busy machine makes tests no longer
            threading.setprofile(watch)
            sys.setprofile(watch)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
            sys.setprofile(None)
            threading.setprofile(None)
            if session.testsfailed:
                print(f"{item.nodeid} fails without a mutant")
                return False, {}
            calls[k] = (time.process_time() - started, seen)
        return True, calls

    def _try(self, session: Any, trial: Trial) -> tuple[str, int]:
        key = _key(trial.function.__code__)
        assert trial.function.__code__.co_freevars == trial.mutant.code.co_freevars, "another function"
        concerned = sorted((seconds, k) for k, (seconds, seen) in self._calls.items() if key in seen)
        items: list[Any] = []
        planned = 0.0
        for seconds, k in concerned:
            if items and planned + seconds > self._budget:
                break
            planned += seconds
            items.append(session.items[k])

        def run() -> str:
            trial.function.__code__ = trial.mutant.code
            for item in items:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
                if session.testsfailed:
                    return str(item.nodeid)
            return "no"

        return run_elsewhere(run, 10 + 10 * planned) or "hangs or crashes", len(items)


def _key(code: Any) -> str:
    return f"{code.co_filename}:{code.co_qualname}"
