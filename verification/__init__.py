"""The Monte Carlo laboratory: every statement of the paper, checked with statistics that can fail.

Run ``python -m verification`` from the checkout. A claim is one small file in :mod:`verification.claims`;
everything else here is what all claims share: seeded trials, the decision, the report.
"""
