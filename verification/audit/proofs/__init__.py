"""Proofs of the audit's steps: reductions to goals that a machine settles, and witnesses of failures."""
