"""Tables, figures and views give the coordinates of each number; errors name the wrong key."""

import pytest
import yaml

from analogyqa.errors import AnalogyQAError
from analogyqa.settings.artefacts import Artefact, View
from analogyqa.settings.coordinates import Coordinates
from analogyqa.settings.paper import Paper, load_paper
from builders.papers import PAPER

TABLE = """
title: T
cells: {dataset: toy, subset: who}
columns: {MAP: {measure: map}, MRR: {measure: mrr}}
rows: {Ours: {system: analogy, p: 3}, Theirs: cited}
published: {Ours: [40, "-"], Theirs: [50, 60]}
scale: 100
"""
FIGURE = """
title: F
cells: {system: analogy, dataset: toy, subset: who, measure: mrr}
x: {p: [2, 3]}
y: {dropout: [0, 0.5]}
"""


def artefact(text: str, **changes) -> Artefact:
    return Artefact.model_validate(yaml.safe_load(text) | changes)


def test_a_table_has_the_printed_numbers_in_our_unit_and_their_coordinates():
    ours, _, *theirs = numbers = list(artefact(TABLE).numbers())
    expected = {"system": "analogy", "dataset": "toy", "subset": "who", "measure": "map", "p": 3}
    assert ours.coordinates == Coordinates(**expected)
    assert ours.coordinates.overrides == (("p", "3"),)
    published = [(number.published, number.kind) for number in numbers]
    assert published == [(0.4, "score"), (None, "score"), (0.5, "cited"), (0.6, "cited")]
    assert [number.coordinates.system for number in theirs] == ["", ""]
    assert [number.coordinates.measure for number in theirs] == ["map", "mrr"]
    cells = [(row, column) for row, column, _ in artefact(TABLE).system_cells("mean")]
    assert cells == [("mean", "MAP"), ("mean", "MRR")]


def test_a_row_may_have_a_value_in_one_column_only_with_coordinates_of_its_own():
    rows = {"Ours": {"system": "analogy"}, "Elsewhere": {"system": "mean", "measure": "mrr"}}
    published = {"Ours": [40, 30], "Elsewhere": ["-", 20]}
    table = artefact(TABLE, rows=rows, published=published, only={"Elsewhere": "MRR"})
    *others, number = table.numbers()
    assert [(at.row, at.column) for at in others] == [("Ours", "MAP"), ("Ours", "MRR")]
    assert (number.row, number.column, number.published) == ("Elsewhere", "MRR", 0.2)
    assert number.coordinates == table.cells | Coordinates(system="mean", measure="mrr")


COUNTS = """
title: C
cells: {dataset: toy, split: test}
columns: {N: {count: questions}}
rows: {Who: {subset: who}, When: {subset: when}}
published: {Who: [3], When: [1]}
"""
SINGLE = """
title: S
cells: {dataset: toy, measure: map}
columns: {Who: {subset: who}, When: {subset: when}}
rows: {Ours: {system: analogy}}
published: {Ours: [0.6, 0.2]}
"""
MEANS = """
title: M
cells: {dataset: toy, subset: comb}
columns: {MAP: {measure: map}}
rows: {Ours: {system: analogy}}
means_of: {tables: {MAP: table2}, weights: [table1, N], step: 0.1}
"""


def paper_of(*tables: str) -> Paper:
    artefacts = {f"table{n}": yaml.safe_load(text) for n, text in enumerate(tables, start=1)}
    return Paper.model_validate({"paper": "p", "citation": "c", "artefacts": artefacts})


def test_values_that_are_not_printed_are_weighted_means_of_printed_ones():
    table = paper_of(COUNTS, SINGLE, MEANS).artefacts["table3"]
    (number,) = table.numbers()
    assert (number.published, number.step) == (0.5, 0.1)  # (3 * .6 + 1 * .2) / 4
    assert table.rounding("MAP") == 0.05
    second = "rows: {Theirs: {system: mean}, Ours"
    tables = [text.replace("rows: {Ours", second) for text in (SINGLE, MEANS)]
    tables[0] = tables[0].replace("{Ours: [0.6, 0.2]}", "{Theirs: [0.2, 0.2], Ours: [0.6, 0.2]}")
    both = paper_of(COUNTS, *tables).artefacts["table3"]
    assert [number.published for number in both.numbers()] == [0.2, 0.5]
    with pytest.raises(ValueError, match="no printed value of Ours, When"):
        paper_of(COUNTS, SINGLE.replace("0.2", '"-"'), MEANS)
    with pytest.raises(ValueError, match="no printed value of 'table9'"):
        paper_of(COUNTS, SINGLE, MEANS.replace("table1, N", "table9, N"))


def test_a_printed_value_has_at_least_the_digits_of_most_of_its_column():
    rows = {"A": 0.770, "B": 0.751, "C": 0.802, "D": 0.6231}  # YAML reads .770 as .77
    table = artefact(
        SINGLE,
        columns={"Who": {"subset": "who"}},
        rows={name: {"system": name} for name in rows},
        published={name: [value] for name, value in rows.items()},
    )
    steps = [number.step for number in table.numbers()]
    assert steps == pytest.approx([0.001, 0.001, 0.001, 0.0001])


def test_a_heat_map_has_a_point_for_each_pair_of_values():
    points = [point for _, _, point, _ in artefact(FIGURE).points({"p": [5]})]
    assert points == [{"p": 5, "dropout": 0}, {"p": 5, "dropout": 0.5}]
    overrides = [dict(coordinates.overrides) for *_, coordinates in artefact(FIGURE).points()]
    assert len(overrides) == 4 and {"dropout": "0.5", "p": "3"} in overrides


COSTLY = """
title: T
cells: {dataset: toy, subset: who}
columns:
  MAP: {measure: map}
  Size: {cost: parameters}
  Time: {cost: seconds_per_epoch, over: mean}
  Theirs: cited
rows: {Ours: {system: analogy}}
remarks: {Size: Theirs is rounded.}
published: {Ours: [0.5, 90.0K, 32x, 7]}
"""


def test_a_printed_number_may_have_a_unit_and_a_column_may_be_cited():
    numbers = list(artefact(COSTLY).numbers())
    published = [(number.published, number.kind) for number in numbers]
    assert published == [(0.5, "score"), (90_000, "cost"), (32, "cost"), (7, "cited")]
    assert numbers[2].coordinates.measured == "seconds_per_epoch over mean"
    columns = [column for _, column, _ in artefact(COSTLY).system_cells("other")]
    assert columns == ["MAP", "Size", "Time"]
    table = artefact(COSTLY, remarks={"Ours": "One.", "Size": "Two."})
    assert [table.remark_on("Ours", column) for column in ("MAP", "Size")] == ["One.", "One. Two."]
    # Other systems get a row, unless the table compares a system with one fixed other system.
    assert not artefact(COSTLY).has_systems
    changes = {"columns": {"Size": {"cost": "parameters"}}, "published": {"Ours": ["90K"]}}
    assert artefact(COSTLY, **changes).has_systems


NORMS = """
title: N
view: norms
cells: {dataset: toy, subset: all}
panels: {A: {system: a}}
"""
EXAMPLE = "{panel: A, find: who, question: [who, '-'], answer: ['-', anna]}"


def test_views_are_listed_among_artefacts():
    artefacts = {"figure2": yaml.safe_load(NORMS), "table1": yaml.safe_load(COUNTS)}
    paper = Paper.model_validate({"paper": "p", "citation": "P.", "artefacts": artefacts})
    assert (list(paper.artefacts), list(paper.views)) == (["table1"], ["figure2"])
    assert paper.tables_and_figures == ["table1", "figure2"]
    (coordinates,) = paper.views["figure2"].coordinates().values()
    assert coordinates.key == ("a", "toy", "all", None, ())
    assert Paper.model_validate(paper.model_dump(exclude_unset=True)).views == paper.views


# What is refused

BASES = {"TABLE": TABLE, "FIGURE": FIGURE, "COSTLY": COSTLY, "NORMS": NORMS}
# The name of a base, changes of it, and the message about them.
REFUSED = r"""
TABLE {x: {p: [2]}} => give columns and rows .* or x
TABLE {scale: 1} => Ours, MAP: 40 is above 1 .*scale
TABLE {scale: 0} => scale
TABLE {published: {Ours: [1]}} => published: give the rows \['Ours', 'Theirs'\], .* of \['Ours'\]
TABLE {published: {Ours: [1], Theirs: [1, 2]}} => Ours: 1 values for 2 columns
TABLE {published: {Ours: ["40", 1], Theirs: [50, 60]}} => Ours.0
TABLE {published: {Ours: [-40, 1], Theirs: [50, 60]}} => Ours.0
TABLE {rows: {Ours: {system: a, subset: who}, Theirs: cited}} => Ours, MAP: .*'subset'.* twice
TABLE {cells: {dataset: toy}} => Ours, MAP: subset is missing
TABLE {cells: {los: hinge}} => 'los' is not .* did you mean loss
TABLE {cells: {p: 0}} => p: Input
TABLE {cells: {measure: p@1}} => cells.measure
TABLE {best: {Ours: [1]}} => a table has no best
COSTLY {published: {Ours: [0.5, K, "-", "-"]}} => published
COSTLY {remarks: {Sise: x}} => remarks: no row or column .*Sise
COSTLY {columns: {Size: {cost: watts}}} => cost
COSTLY {columns: {Size: {measure: map, cost: parameters}}, published: {}} => remove measure
FIGURE {published: {A: [0.5]}} => a figure has no published
FIGURE {lines: {A: {}}} => either lines or one axis y
TABLE {only: {Hers: MAP, Ours: MAP}} => only: no row or column .*Hers
TABLE {only: {Ours: NDCG}} => only: no row or column .*NDCG
FIGURE {x: {p: [2], dropout: [0]}, y: {}, lines: {A: {}}} => one axis x
FIGURE {y: {}, lines: {A: {}}, best: {A: [5]}} => best: 5 is not among .* of p
FIGURE {y: {}, lines: {A: {}}, best: {B: [2]}} => best: no lines
FIGURE {y: {}, lines: {A: {}}, best: {A: [2, 3]}} => A: 2 values for 1 col
NORMS {view: norm} => view.*'norms'
NORMS {panels: {}} => panels
NORMS {panels: {A: {system: a}, B: {system: b}, C: {system: c}}} => panels
NORMS {panels: {A: {system: a, measure: map}}} => A: remove measure
NORMS {panels: {A: {system: a, subset: who}}} => 'subset'.* given twice
NORMS {levels: {0-1: to}} => the view norms has no levels
NORMS {examples: [EXAMPLE]} => the view norms has no examples
NORMS {view: pairs_by_norm, examples: []} => pairs_by_norm needs examples
NORMS {view: pairs_by_norm, examples: [EXAMPLE, EXAMPLE{panel: B}]} => 'B' is not one of the panels
NORMS {view: pairs_by_norm, examples: [EXAMPLE{answer: ["-"]}]} => question has 2 levels, .* 1
NORMS {view: pairs_by_norm, examples: [EXAMPLE{find: ""}]} => examples.0.find
NORMS {view: pairs_by_norm, examples: [EXAMPLE, EXAMPLE{question: [a], answer: [b]}]} => same number
""".strip().splitlines()


@pytest.mark.parametrize("case", REFUSED)
def test_an_impossible_artefact_is_refused(case):
    changed, _, message = case.partition(" => ")
    base, _, changes = changed.partition(" ")
    changes = changes.replace("EXAMPLE{", EXAMPLE[:-1] + ", ").replace("EXAMPLE", EXAMPLE)
    section = View if base == "NORMS" else Artefact
    with pytest.raises(ValueError, match=f"(?s){message}"):
        section.model_validate(yaml.safe_load(BASES[base]) | yaml.safe_load(changes))


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("figure8", "{titel: N}", r"unknown key artefacts\.figure8\.titel; did you mean title"),
        ("figure8", "{panels: {}}", r"artefacts\.figure8\.panels: "),
        ("table8", "{}", r"artefacts\.table8: the view norms is a figure"),
        ("figure8", "{view: words_by_norm}", r"artefacts\.figure8: .* words_by_norm is a table"),
        ("figure2", TABLE, r"artefacts\.figure2: a figure has an axis x"),
        ("table1", "{valeu: score}", r"unknown key artefacts\.table1\.valeu"),
    ],
)
def test_a_wrong_key_is_named_as_in_the_file(tmp_path, name, changes, message):
    values = yaml.safe_load(PAPER)
    base = {} if "published" in changes else yaml.safe_load(NORMS)
    values["artefacts"][name] = base | yaml.safe_load(changes)
    path = tmp_path / "paper.yaml"
    path.write_text(yaml.safe_dump(values))
    with pytest.raises(AnalogyQAError, match=rf"paper\.yaml: {message}"):
        load_paper(path)
