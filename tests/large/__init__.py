"""Tests of large sets, at sizes at which the usual routes can say what is right."""
