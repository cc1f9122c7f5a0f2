"""Which pairs are allowed: known pairs, groups and forbidden pairs, from the arguments to the matching."""
