"""The data sets: one reader each, and a line here.

To add one, write a file with a function that yields `Pair`s and register it. A reader names file
and line of anything malformed; everything that all data sets share happens in `build_corpus`.
"""

from importlib import import_module

READERS = {
    "wikiqa": "analogyqa.corpora.wikiqa:read",
    "trecqa": "analogyqa.corpora.trecqa:read",
}


def reader(name: str):
    """Return the function that reads one split's file of a data set: path to iterator of Pair."""
    module, _, attribute = READERS[name].partition(":")
    return getattr(import_module(module), attribute)
