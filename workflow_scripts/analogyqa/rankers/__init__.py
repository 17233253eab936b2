"""From vectors, or words, to scores of candidates."""
