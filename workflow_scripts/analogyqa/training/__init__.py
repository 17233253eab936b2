"""From a cell to a trained encoder."""
