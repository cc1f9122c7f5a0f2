"""What a matching may minimise: one file for each objective, ending in its row of the table."""
