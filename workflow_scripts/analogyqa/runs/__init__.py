"""A cell from its tables to its record."""
