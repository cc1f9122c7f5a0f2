"""Pairs with a proven limit for the share of false ones: paired and ranked blindly, then counted."""
