"""Ways to align two sets: estimators of the scale and the shift between them."""
