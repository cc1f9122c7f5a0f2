"""What runs trials: studies and their cells, seeds, batches, workers, records and checkpoints.

The engine knows no claim and no figure. A worker gets, with each batch, the function that finds the study of
that batch by its id.
"""
