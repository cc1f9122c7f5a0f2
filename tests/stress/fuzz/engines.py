"""Where the bytes come from. An engine calls `attempt` with bytes until that says that the time is over."""

import inspect
import os
import random
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

#: Longer strings of bytes say nothing new.
MOST_BYTES = 300
_SEEDS = 50


def run_hypothesis(attempt):
    """Take bytes of hypothesis, which shrinks those that fail."""
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    more = True

    # All of one length, or hypothesis would choose about five bytes; an end is the same as zeros.
    @settings(
        deadline=None,
        max_examples=500,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.binary(min_size=MOST_BYTES, max_size=MOST_BYTES))
    def run(data):
        nonlocal more
        more = more and attempt(data)

    while more:
        run()


def run_atheris(attempt):
    """Take bytes of atheris, which keeps those that reach new lines of the library. It ends the process."""
    import atheris

    _instrument(atheris)
    corpus = Path(tempfile.mkdtemp())
    for k in range(_SEEDS):
        (corpus / str(k)).write_bytes(random.randbytes(MOST_BYTES))

    def run(data):
        try:
            if attempt(data):
                return
            code = 0
        except Exception:
            traceback.print_exc()
            code = 1
        # The fuzzer takes any other way to leave for a crash.
        shutil.rmtree(corpus)
        sys.stderr.flush()
        os._exit(code)

    # Hangs are for the session to find.
    limits = [f"-max_len={MOST_BYTES}", "-len_control=0", "-timeout=1000000", "-rss_limit_mb=0"]
    quiet = ["-verbosity=0", "-report_slow_units=1000000", f"-artifact_prefix={corpus}/"]
    atheris.Setup([sys.argv[0], *limits, *quiet, str(corpus)], run)
    atheris.Fuzz()


def _instrument(atheris):
    """Count the lines of all Python functions of the library; kernels are none unless compilation is off."""
    modules = [item for key, item in sys.modules.items() if key.startswith("lslmatch")]
    # Numba could not compile what counts its lines.
    kernels = [getattr(item, "py_func", None) for module in modules for item in vars(module).values()]
    for module in modules:
        members = [module, *(item for item in vars(module).values() if inspect.isclass(item))]
        for member in members:
            if member is module or member.__module__ == module.__name__:
                for function in vars(member).values():
                    is_ours = inspect.isfunction(function) and function.__module__ == module.__name__
                    if is_ours and function not in kernels:
                        atheris.instrument_func(function)


ENGINES = {"hypothesis": run_hypothesis, "atheris": run_atheris}
