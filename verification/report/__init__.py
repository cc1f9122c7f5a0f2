"""What a run leaves behind: verdicts.json, pictures, and one HTML page that needs nothing else."""
