"""A full linear map between sets whose coordinates may have nothing in common, learned by ridge."""
