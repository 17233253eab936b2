"""The configuration: one module for each subject."""
