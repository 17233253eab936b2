"""Readers of the data sets.

A reader is a function from the path of one split's file to an iterator of `table.Pair`. It raises
AnalogyQAError, naming file and line, for malformed input. `table.build_corpus` does the rest.
"""
