"""What trials draw, and what they compute from it: configurations, suprema, certified matchings."""
