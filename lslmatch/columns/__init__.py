"""A unit of its own for each column: map and noise are learned together, as each decides the other."""
