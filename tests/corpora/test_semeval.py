"""The XML of SemEval's community question answering, whole and hostile."""

import pytest

from analogyqa.corpora.semeval import read
from analogyqa.corpora.table import Pair, build_corpus
from analogyqa.errors import AnalogyQAError
from analogyqa.schemas import SPLITS

DTD = """\
<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE xml [
<!ELEMENT xml (Thread*)>
<!ATTLIST Thread THREAD_SEQUENCE CDATA #REQUIRED>
]>
"""
RELATED = """\
<RelQuestion RELQ_ID="Q1_R2">
<RelQSubject>a tree</RelQSubject>
<RelQBody>which one   &amp; where
?</RelQBody>
</RelQuestion>
"""
COMMENT = '<RelComment RELC_ID="Q1_R2_C1" RELC_RELEVANCE2RELQ="Good"><RelCText>an oak</RelCText>'
COMMENT += "</RelComment>\n"
BAD = COMMENT.replace("C1", "C2").replace("Good", "Bad").replace("an oak", "a &lt;b> \xa0c")
USEFUL = COMMENT.replace("C1", "C3").replace("Good", "PotentiallyUseful").replace("an oak", "ask")
THREAD = f'<Thread THREAD_SEQUENCE="Q1_R2">\n{RELATED}{COMMENT}{BAD}{USEFUL}</Thread>\n'
FILE = f'{DTD}<xml version="1.0">\n{THREAD}</xml>\n'
PAIRS = [
    Pair(13, "Q1_R2", "a tree which one & where ?", "an oak", 1),
    Pair(14, "Q1_R2", "a tree which one & where ?", "a <b> c", 0),
    Pair(15, "Q1_R2", "a tree which one & where ?", "ask", 0),
]


def other(number: int) -> str:
    return THREAD.replace("Q1_R2", f"Q1_R{number}")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cqa.xml"


@pytest.fixture
def pairs(path):
    def pairs(content: str | bytes) -> list[Pair]:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return list(read(path))

    return pairs


@pytest.mark.parametrize(
    "content",
    [
        FILE,
        FILE.replace("\n", "\r\n"),
        "\ufeff" + FILE,
        FILE.replace("utf-8", "utf-16").encode("utf-16"),
        FILE.replace("utf-8", "latin-1").encode("latin-1"),
        FILE.replace("an oak", "<![CDATA[an oak]]><!-- note -->"),
        FILE.replace("an oak", "an<i> oak</i>"),
        FILE.replace("Q1_R2_C2", "&#81;1_R2_C2"),
    ],
    ids=["LF", "CRLF", "mark", "UTF-16", "Latin-1", "CDATA", "nested", "character reference"],
)
def test_comments_become_pairs(pairs, content):
    assert pairs(content) == PAIRS


def test_repeated_threads_and_original_questions_are_skipped(pairs):
    mark = ' SubtaskA_Skip_Because_Same_As_RelQuestion_ID="Q7_R7">'
    again = other(3).replace('THREAD_SEQUENCE="Q1_R3">', f'THREAD_SEQUENCE="Q1_R3"{mark}')
    about = '<OrgQuestion ORGQ_ID="Q1"><OrgQSubject>x</OrgQSubject><OrgQBody>y</OrgQBody>'
    content = f"<xml>{about}{again}{other(4)}</OrgQuestion></xml>"
    assert [pair.question_id for pair in pairs(content)] == ["Q1_R4"] * 3


@pytest.mark.parametrize(
    ("part", "question"),
    [
        ("<RelQSubject>a tree</RelQSubject>", "which one & where ?"),
        ("which one", "a tree & where ?"),
    ],
)
def test_the_subject_or_the_body_may_be_empty(pairs, part, question):
    kept = "<RelQSubject/>" if part.startswith("<") else ""
    assert {pair.question for pair in pairs(FILE.replace(part, kept))} == {question}


def test_the_released_question_without_comments_is_skipped(pairs):
    empty = f"<Thread>{RELATED.replace('Q1_R2', 'Q2657')}</Thread>"
    assert pairs(FILE.replace("</xml>", f"{empty}</xml>")) == PAIRS


def build(path):
    return build_corpus("it", "semeval", dict.fromkeys(SPLITS, str(path)), {}, {})


def test_the_corpus_table_is_built(path):
    path.write_text(FILE.replace("</xml>", f"{other(3)}</xml>"))
    assert build(path).groupby(["split", "question_id"])["label"].sum().tolist() == [1] * 6


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("an oak", " \n ", "line 13: the candidate is empty"),
        ("an oak", "", "line 13: the candidate is empty"),
        (
            RELATED,
            '<RelQuestion RELQ_ID="a"><RelQSubject/><RelQBody/></RelQuestion>',
            "the question is empty",
        ),
        ('RELQ_ID="Q1_R2"', 'RELQ_ID=" "', "the question id is empty"),
        (THREAD, "", "no questions in this file"),
        ("Thread", "Question", "no questions in this file"),
    ],
    ids=["space", "no text", "no question", "no id", "no thread", "another format"],
)
def test_empty_texts_and_files_are_errors(path, old, new, place):
    path.write_text(FILE.replace(old, new))
    with pytest.raises(AnalogyQAError, match=rf"cqa\.xml.*{place}"):
        build(path)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        (' RELQ_ID="Q1_R2"', "", "line 8: a RelQuestion without RELQ_ID"),
        (' RELC_ID="Q1_R2_C2"', "", "line 14: a RelComment without RELC_ID"),
        (' RELC_RELEVANCE2RELQ="Bad"', "", "line 14: a RelComment without RELC_RELEVANCE2RELQ"),
        ('"Bad"', '"?"', r"line 14: unknown label '\?' .*Good, Potential"),
        ('"Bad"', '"bad"', "line 14: unknown label 'bad'"),
        ('"Bad"', '""', "line 14: unknown label ''"),
        ('"Bad"', f'"{"x" * 9999}"', r"line 14: unknown label 'x+\.\.\.x+'"),
        (COMMENT + BAD + USEFUL, "", "line 8: the question Q1_R2 has no comments"),
        (RELATED, "", "line 7: expected a RelQuestion and then RelComments"),
        (RELATED, RELATED * 2, "line 7: expected a RelQuestion"),
        (RELATED + COMMENT, COMMENT + RELATED, "line 7: expected a RelQuestion"),
        (COMMENT, f"<Thread>{COMMENT}</Thread>", "line 7: expected a RelQuestion"),
        (THREAD, "<Thread/>", "line 7: expected a RelQuestion"),
        ("<RelQSubject>a tree</RelQSubject>", "", "line 8: a RelQuestion with 0 RelQSubject"),
        ("RelQBody", "RelQClean", "line 8: a RelQuestion with 0 RelQBody instead of one"),
        ("<RelCText>an oak</RelCText>", "", "line 13: a RelComment with 0 RelCText"),
        ("an oak", "an</RelCText><RelCText>oak", "line 13: a RelComment with 2 RelCText"),
        (THREAD, THREAD * 2, "line 18: a second element with the id Q1_R2"),
        (COMMENT, COMMENT * 2, "line 14: a second element with the id Q1_R2_C1"),
        ("Q1_R2_C3", "Q1_R2", "line 15: a second element with the id Q1_R2"),
    ],
)
def test_a_malformed_thread_is_an_error(pairs, old, new, place):
    assert old in FILE
    with pytest.raises(AnalogyQAError, match=rf"cqa\.xml, {place}"):
        pairs(FILE.replace(old, new))


@pytest.mark.parametrize("length", range(1, len(FILE) - 2, 37))
def test_a_truncated_file_is_an_error(pairs, length):
    with pytest.raises(AnalogyQAError, match=r"cqa\.xml, line \d+: malformed XML"):
        pairs(FILE[:length])


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("", r"line 1: .*\(no element found\)"),
        ("qid\tquestion\n", "line 1: "),
        (FILE.replace("an oak", "an <oak"), "line 13: "),
        (FILE.replace("an oak", "an & oak"), "line 13: "),
        (FILE.replace("an oak", "an \0oak"), "line 13: "),
        (FILE.replace("an oak", "an &#0;oak"), "line 13: "),
        (FILE.replace("an oak", "an &#xD800;oak"), "line 13: "),
        (FILE.replace("an oak", "an &nbsp;oak"), "line 13: .*undefined entity"),
        (FILE.encode().replace(b"an oak", b"an \xffoak"), "line 13: "),
        (FILE.replace("</RelCText></RelComment>", "</RelComment></RelCText>"), "line 13: .*mism"),
        (FILE + "<xml/>", "line 18: "),
        (FILE.replace("RELC_ID=", 'RELC_ID="a" RELC_ID='), "line 13: .*duplicate attribute"),
        *((FILE.replace("utf-8", name), "line 1: ") for name in ("utf-7", "rot13", "idna", "no")),
    ],
)
def test_malformed_xml_is_an_error(pairs, content, place):
    with pytest.raises(AnalogyQAError, match=rf"cqa\.xml, {place}"):
        pairs(content)


def with_declaration(declaration: str, text: str) -> str:
    return FILE.replace("]>", f"{declaration}\n]>", 1).replace("an oak", text)


BOMB = '<!ENTITY a0 "boom">' + "".join(
    f'<!ENTITY a{number} "{f"&a{number - 1};" * 10}">' for number in range(1, 12)
)


@pytest.mark.parametrize(
    "content",
    [
        with_declaration(BOMB, "&a11;"),
        with_declaration(f'<!ENTITY a "{"x" * 100_000}">', "&a;" * 10_000),
        with_declaration('<!ENTITY a "harmless">', "an oak"),
        with_declaration('<!ENTITY a SYSTEM "SECRET">', "&a;"),
        with_declaration('<!ENTITY a SYSTEM "http://127.0.0.1:9/">', "&a;"),
        with_declaration('<!ENTITY % a SYSTEM "SECRET">%a;', "an oak"),
        with_declaration("%a;", "&b;"),
        with_declaration('<!NOTATION n SYSTEM "x"><!ENTITY a SYSTEM "SECRET" NDATA n>', "an oak"),
        FILE.replace("<!DOCTYPE xml [", '<!DOCTYPE xml SYSTEM "SECRET" ['),
        FILE.replace("<!DOCTYPE xml [", '<!DOCTYPE xml PUBLIC "-//a//b" "SECRET" ['),
    ],
    ids=[
        *("billion laughs", "quadratic", "any entity", "of a file", "of the web", "parameter"),
        *("undeclared parameter", "unparsed", "another DTD", "a public DTD"),
    ],
)
def test_entity_declarations_are_refused(tmp_path, pairs, content):
    secret = tmp_path / "secret.txt"
    secret.write_text("a word that nobody may see")
    with pytest.raises(AnalogyQAError, match=r"cqa\.xml, line \d+: malformed XML") as caught:
        pairs(content.replace("SECRET", secret.as_uri()))
    assert "nobody" not in str(caught.value)


def test_deep_nesting_does_not_crash(pairs):
    deep = "<i>" * 30_000 + "oak" + "</i>" * 30_000
    assert pairs(FILE.replace("an oak", deep))[0].candidate == "oak"
    assert pairs("<a>" * 30_000 + "</a>" * 30_000) == []
