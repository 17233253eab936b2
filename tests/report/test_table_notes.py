"""The notes below a table."""

from report.test_tables import TINY, make_table, tiny_config


def test_a_table_without_runs_has_no_notes_on_runs():
    config = tiny_config(
        left_out=dict.fromkeys(("ghost", "glove", "analogy", "glove-cosine", "random"), "no data")
    )
    notes = make_table("table2", config).notes
    assert not any(word in note for note in notes for word in ("interval", "Seeds", "Ties", "±"))
    assert any(note.startswith("Not run: ") for note in notes)


def test_the_legend_has_only_marks_of_the_table():
    (marks,) = (note for note in make_table("table2").notes if note.startswith("Marks: "))
    assert all(f"{mark} " in marks for mark in "?↑↓")
    assert "=" not in marks and "†" not in marks
    notes = make_table("table2", substitute="ours for theirs").notes
    assert any("†: " in note for note in notes)


def test_hyperparameters_and_origins_have_at_most_five_lines_and_a_link():
    for name in TINY.artefacts:
        notes = make_table(name, provenance=lambda cell, _: f"origin of {cell.path}").notes
        starts = ("Paper's hyperparameters", "Hyperparameters tuned", "Origin of", "All hyper")
        lines = [note for note in notes if note.startswith(starts)]
        assert len(lines) <= 5
        if lines:
            assert lines[-1].endswith("[report](../../report.html#configuration).")
