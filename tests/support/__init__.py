"""What several tests share: naive references, sets to match, settings of the solver, programs to start."""
