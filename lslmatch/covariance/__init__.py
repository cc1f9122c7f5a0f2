"""Noise that is correlated between coordinates: a covariance that is known, or learned from the matching."""
