"""The pages of the reference that are generated from the code."""

import pytest

from builders.projects import REPOSITORY, load_script

generated = load_script(REPOSITORY / "docs" / "generated.py")


def test_a_key_has_its_type_its_default_and_the_sentence_of_the_paper():
    entry = generated.configuration_page().partition("\n`margin`\n")[2].partition("\n`")[0]
    assert entry.startswith(": *number ≥ -1, ≤ 100; default `0.1`*\n")
    assert "- `training.margin` = `0.1`, diallo2019: " in entry
    assert '"a margin m, which we empirically choose to be 0.1" (section 3' in entry


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("training.negatives.count", ("Negatives", "count")),
        ("systems.hyperqa.training.margin", ("Training", "margin")),
        ("systems.mapped.ranker.components", ("MappedOptions", "components")),
        ("systems.hyperqa", ("", "systems")),
        ("question_types.who", ("", "question_types")),
        ("nothing", None),
    ],
)
def test_a_key_of_a_file_leads_to_its_description(keys, expected):
    assert generated._place(generated.config_schema(), keys.split(".")) == expected


def test_a_comment_describes_the_value_below_it_or_on_its_line():
    text = "# file\n\na:\n  # one\n  # two\n  b: 1  # three\n  c: 2\n\n# four\n\nd: 3\n"
    assert list(generated.comments(text)) == [(["a", "b"], "one two three")]
