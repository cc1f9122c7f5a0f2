"""Single mutations of the library and of the statements: each is seen by a claim, or it is said why not."""
