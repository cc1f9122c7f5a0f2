"""Sets so large that neither their pairs nor their coordinates are all to be had in memory."""
