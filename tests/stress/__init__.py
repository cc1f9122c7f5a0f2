"""Programs that try the library for hours: hostile input, hard instances, one process without end."""
