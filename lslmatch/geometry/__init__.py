"""Two sets of points in common coordinates, and their squared distances."""
