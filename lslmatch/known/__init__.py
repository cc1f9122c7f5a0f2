"""What is known beforehand at work: known pairs teach map and noise, and those that do not fit are named."""
