"""Real data: where each set comes from, and how it becomes arrays of points in a known order."""
