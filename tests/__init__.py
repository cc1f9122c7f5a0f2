"""Tests: folders as in what they test; `support` is shared, `benchmarks` and `stress` are programs."""
