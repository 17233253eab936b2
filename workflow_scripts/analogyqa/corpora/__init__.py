"""The data sets: a reader each.

A reader is a function from the path of one split's file to an iterator of `table.Pair`. It names
file and line of anything malformed. Everything that all data sets share happens in `build_corpus`.
"""
