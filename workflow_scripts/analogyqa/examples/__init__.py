"""The tables of a cell as row numbers and batches."""
