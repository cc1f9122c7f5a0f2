"""Settings for the whole suite.

By default hypothesis's examples are the same in every run, so that a failure is one of the code and not of
the day; ``pytest --hypothesis-profile=explore`` looks for new ones.
"""

import signal

from hypothesis import settings

from tests.support.reference import SMALL

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=40 if SMALL else 120)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("fixed")

# A shell that starts the suite in the background lets it ignore Ctrl-C, and the programs that tests start and
# interrupt would inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
