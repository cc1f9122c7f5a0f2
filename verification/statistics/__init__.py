"""From counts and means to verdicts and intervals."""
