"""The readers of data sets."""

from dataclasses import dataclass

from analogyqa.plugin import Plugin


@dataclass(frozen=True)
class ReaderSpec(Plugin):
    """A reader: `read(path)` yields the `corpora.table.Pair` of one file.

    It names the file and the line of anything malformed.

    Args:
        gives_relations: it is called with a folder, and yields pairs of sentences in relations,
            for solving analogies instead of ranking candidates.
        gives_ids: its texts are ids, of which only stored sentence vectors know more.
        has_columns: it also takes the names of columns, and an encoding.
    """

    gives_relations: bool = False
    gives_ids: bool = False
    has_columns: bool = False


READERS = {
    "table": ReaderSpec("analogyqa.corpora.tabular:read", has_columns=True),
    "wikiqa": ReaderSpec("analogyqa.corpora.tabular:read_wikiqa"),
    "trecqa": ReaderSpec("analogyqa.corpora.trecqa:read"),
    "semeval": ReaderSpec("analogyqa.corpora.semeval:read"),
    "semeval_related": ReaderSpec("analogyqa.corpora.semeval:read_related"),
    "semeval_ids": ReaderSpec("analogyqa.corpora.semeval:read_ids", gives_ids=True),
    "yahoocqa_splits": ReaderSpec("analogyqa.corpora.yahoocqa_splits:read"),
    "selqa": ReaderSpec("analogyqa.corpora.selqa:read"),
    "relations": ReaderSpec("analogyqa.corpora.relations:read", gives_relations=True),
}
