"""In the plane: a proof that under no other angle, mirrored or not, there is a matching of a smaller sum."""
