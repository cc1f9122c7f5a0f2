"""Code mutation: one small change of the library at a time, and whether its tests notice."""
