"""Turned and mirrored sets: the rotation, the scale, the shift and the matching are found together."""
