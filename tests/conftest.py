"""Settings of hypothesis for the whole suite.

By default examples are the same in every run, so that a failure is one of the code and not of the day;
``pytest --hypothesis-profile=explore`` looks for new ones.
"""

from hypothesis import settings
from reference import SMALL

settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=40 if SMALL else 120)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("fixed")
