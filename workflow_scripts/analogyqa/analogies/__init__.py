"""Prototypes and quadruples."""
