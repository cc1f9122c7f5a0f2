"""How far a matching can be trusted, judged from the result alone."""
