"""Speed and memory of the library beside the pipelines that a user could assemble instead."""
