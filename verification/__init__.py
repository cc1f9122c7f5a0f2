"""The Monte Carlo verification: every statement of the paper, checked with statistics that can fail.

Run ``python -m verification`` from the checkout for the claims and the proof audit, and
``python -m verification figures`` for the figures. Each folder imports only from those below it:

- ``cli``: the two commands;
- ``report``: verdicts.json, and the page with its pictures;
- ``claims`` (one small file a statement), ``audit`` (one a proof), ``figures`` (one a figure);
- ``scenarios``: what trials draw and match, with the certificate of every matching;
- ``statistics``: from counts and means to verdicts and intervals;
- ``engine``: seeded trials in batches, workers, records, checkpoints;
- ``data`` (real data) and ``style`` (how pictures look), which import nothing from here.
"""
