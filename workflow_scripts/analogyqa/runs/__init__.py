"""Run a cell: from its tables to its scores, metrics and record."""
