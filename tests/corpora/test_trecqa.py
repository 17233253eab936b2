"""TrecQA as jacana pseudo-XML."""

from functools import partial

import pytest

from analogyqa.corpora.table import Pair
from analogyqa.corpora.trecqa import read
from analogyqa.errors import AnalogyQAError

JACANA = """\
<QApairs id='1.1'>
<question>
who\tis\t<\tit\t&\t?
W\tV\tX\tP\tX\t.
</question>
<positive>
It\tis\tanna\t.
P\tV\tN\t.
</positive>
<negative>
It\tis\t<num>\t.
</negative>
</QApairs>
<QApairs id='1.2'>
<question>
when\t?
</question>
<positive>
1901
</positive>
</QApairs>
"""
PAIRS = [
    Pair(6, "1.1", "who is < it & ?", "It is anna .", 1),
    Pair(10, "1.1", "who is < it & ?", "It is <num> .", 0),
    Pair(18, "1.2", "when ?", "1901", 1),
]
QUESTION = "<QApairs id='1'>\n<question>\nwho\t?\n</question>\n"


@pytest.fixture
def pairs(read_file):
    return partial(read_file, read, "TREC.xml")


def test_ids_are_normalised(pairs):
    assert pairs(JACANA.replace("'1.2'", "' 1.2\u200b '")) == PAIRS


def test_released_questions_without_candidates_are_skipped(pairs):
    for question_id in ("94", "15.3", "41.3", "44.4", "58.1", "59.2", "64.3"):
        empty = QUESTION.replace("'1'", f"'{question_id}'") + "</QApairs>\n"
        assert [pair._replace(line=pair.line - 5) for pair in pairs(empty + JACANA)] == PAIRS


def test_a_truncated_file_is_an_error(pairs):
    for line in range(1, 21):
        if line != 13:  # the end of a question
            cut = "".join(JACANA.splitlines(keepends=True)[:line])
            with pytest.raises(AnalogyQAError, match=r"TREC\.xml: .* inside the question 1\.\d"):
                pairs(cut)


def test_entities_are_kept_with_a_warning(pairs, caplog):
    escaped = pairs(JACANA.replace("\t&\t", "\t&amp;\t"))
    assert escaped[0].question == "who is < it &amp; ?" and "line 3" in caplog.text
    caplog.clear()
    assert pairs(JACANA) == PAIRS and not caplog.records
