"""The configuration, a file for each subject."""
