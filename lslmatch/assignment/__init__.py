"""Linear assignment: jitted solvers, their public face, and the check of their certificates."""
