"""Which pairs of a matching are kept: which of them are true, and which of points without a partner."""
