"""What stands below a table: of this table, in few lines."""

from report.test_tables import TINY, make_table, tiny_config


def test_a_table_without_runs_says_nothing_of_intervals_seeds_and_ties():
    config = tiny_config(
        left_out=dict.fromkeys(("ghost", "glove", "analogy", "glove-cosine", "random"), "no data")
    )
    notes = make_table("table2", config).notes
    assert not any(word in note for note in notes for word in ("interval", "Seeds", "Ties", "±"))
    assert any(note.startswith("Not run: ") for note in notes)


def test_only_marks_that_are_there_are_explained():
    (marks,) = (note for note in make_table("table2").notes if note.startswith("Marks: "))
    assert "= reproduced" in marks and "↓ ours is lower" in marks and "↑ ours is higher" in marks
    assert "?" not in marks and "†" not in marks
    notes = make_table("table2", substitute="ours for theirs").notes
    assert any("† made with a substitute" in note for note in notes)


def test_of_settings_and_origins_there_are_five_lines_at_most_and_a_link_to_all():
    for name in TINY.artefacts:
        notes = make_table(name, provenance=lambda cell, _: f"origin of {cell.path}").notes
        own = [
            note
            for note in notes
            if note.startswith(("Paper's hyperparameters", "Chosen", "Origin", "Every setting"))
        ]
        assert len(own) <= 5
        if own:
            assert own[-1].endswith("[report](../../report.html#configuration).")


def test_a_value_without_spread_has_no_deviation_and_the_notes_say_why():
    table = make_table("table2", sd=0.0, run_low=0.6, run_high=0.6)
    texts = [value.ours for block in table.blocks for _, values in block.rows for value in values]
    assert set(texts) == {".600", "not run"}
    assert any("Every seed gives the same" in note for note in table.notes)
    assert not any("mean ±" in note for note in table.notes)
    notes = make_table("table2").notes
    assert not any("Every seed gives the same" in note for note in notes)
