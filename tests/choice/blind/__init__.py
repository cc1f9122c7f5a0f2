"""Pairs that are made blindly."""
