"""The judge of optimality: it computes costs in its own way, and shares no code with the solvers."""
