"""A page for a match: one HTML file that needs nothing else."""
