"""Linear assignment: the solvers, their steps, and their public functions."""
