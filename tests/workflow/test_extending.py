"""The steps of the pages on extending: encoders, a data set of one's own, a paper."""

import re
import shutil

import pytest
import yaml

from analogyqa.settings.paper import Paper
from builders.pages import EXTENDING, plugins, texts_of
from builders.projects import SMALL_RUN, Project, cells_of, copy_checkout, read_csv

pytestmark = pytest.mark.workflow

SYSTEMS, _, _, OWN_DATA, RELATIONS, _, PAPER, VIEW, _ = map(
    yaml.safe_load, texts_of("yaml", EXTENDING)
)
# A paper. Table 3 solves pairs of sentences, made of templates, by what a cell has learned.
# Table 4 has a published number of the kind that the page adds.
TOY = """
paper: toy
citation: Nobody (2026). Toys.
artefacts:
  table1:
    title: Precision on all questions
    cells: {dataset: wikiqa, subset: all, measure: p_at_1}
    columns: {P@1: {}}
    rows: {Others: cited, Analogy: {system: toy}, BM25: {system: bm25}}
    published: {Others: [41.2], Analogy: [62.5], BM25: ["-"]}
    scale: 100
  table2:
    title: Two overrides
    cells: {system: toy, dataset: wikiqa, subset: comb, measure: map}
    columns: {"4": {sentence_dim: 4}, "8": {sentence_dim: 8}}
    rows: {"0": {dropout: 0}, "0.5": {dropout: 0.5}}
    published: {"0": [0.5, 0.6], "0.5": [0.7, 0.8]}
  table3:
    title: Analogies
    cells: {dataset: pairs, subset: places, measure: accuracy}
    columns: {3CosAdd: {solver: 3cosadd}, 3CosMul: {solver: 3cosmul}}
    rows:
      Analogy: {system: toy, sentence_dim: 4, trained_on: [wikiqa, comb]}
      Nothing learned: {system: toy}
  table4:
    title: Standard deviations
    cells: {dataset: wikiqa, subset: comb, sd: mrr}
    columns: {MRR: {}}
    rows: {Analogy: {system: toy}, BM25: {system: bm25}}
    published: {Analogy: [9.5], BM25: ["-"]}
  figure1:
    title: Dimensions
    cells: {dataset: wikiqa, subset: comb, measure: map}
    x: {sentence_dim: [4, 8]}
    lines: {Analogy: {system: toy}}
  figure2:
    title: Two overrides
    cells: {system: toy, dataset: wikiqa, subset: comb, measure: map}
    x: {sentence_dim: [4, 8]}
    y: {dropout: [0, 0.5]}
claims:
  larger-is-better:
    claim: more dimensions rank better
    where: Figure 1
    cells: {system: toy, dataset: wikiqa, subset: comb, measure: map}
    comparisons: [{better: {sentence_dim: 8}, worse: {sentence_dim: 4}}]
"""
TOY_CONFIG = """
over: diallo2019
systems: {toy: {title: Toy, encoder: bigru, vectors: fasttext, ranker: analogy}}
categories:
  places: {title: Places, rule: templates, pairs: 6, words: [[data/words.txt], places],
           templates: ["{}", "We went to {}."]}
datasets: {pairs: {title: Pairs, reader: relations, categories: [places]}}
"""


@pytest.fixture
def project(finished_checkout, tmp_path):
    """A project that has run with few systems, in a checkout of its own."""
    shutil.copytree(finished_checkout, tmp_path / "checkout")
    return Project(tmp_path / "checkout" / "work")


def snakefile(project):
    return "--snakefile", str(project.folder.parent / "Snakefile")


def new_cells(project):
    """Return the cells that are not there yet, and run them."""
    cells = cells_of(project.jobs(*snakefile(project)))
    project.make(*snakefile(project))
    return {tuple(cell.split("/")) for cell in cells}


def add_encoders(project):
    """Write the encoders of the page, and their lines in `specs.py`; return their folder."""
    folder = project.folder.parent / "workflow_scripts" / "analogyqa" / "encoders"
    encoders = plugins("EncoderSpec")
    assert len(encoders) == 2
    specs = (folder / "specs.py").read_text()
    for code, line, name in encoders:
        assert code.count("\n") < 30
        (folder / f"{name}.py").write_text(code)
        specs = specs.replace("ENCODERS = {\n", f"ENCODERS = {{\n    {line}\n", 1)
    (folder / "specs.py").write_text(specs)
    project.configure(**{**SMALL_RUN, "systems": {**SMALL_RUN["systems"], **SYSTEMS["systems"]}})
    return folder


def test_the_encoders_of_the_page_have_rows_in_the_tables(project):
    add_encoders(project)
    assert {cell[0] for cell in new_cells(project)} == {"linear", "largest"}
    for table in ("table3", "table4"):
        page = (project.results / "tables" / "diallo2019" / f"{table}.md").read_text()
        for title in ("Linear", "Largest"):
            assert re.search(rf"\| {title}\b.*\.\d{{3}}", page), page


@pytest.mark.draw
def test_an_encoder_that_does_not_keep_the_interface_stops_before_any_job(tmp_path):
    project = Project(copy_checkout(tmp_path / "checkout") / "work").create()
    path = add_encoders(project) / "linear.py"
    path.write_text(path.read_text().replace(" * inside[:, :, None]", ""))
    done = project.run(*snakefile(project))
    assert done.returncode != 0
    assert "the encoder linear (analogyqa.encoders.linear:LinearEncoder): padding" in done.stdout
    assert "Finished jobid" not in done.stdout


def base_datasets(project):
    return yaml.safe_load((project.folder / "config.yaml").read_text())["datasets"]


@pytest.mark.slow
def test_a_folder_of_relations_gets_its_own_table(project):
    folder = project.folder / RELATIONS["datasets"]["mine"]["test"]
    folder.mkdir(parents=True)
    pairs = "We went to {}.\tWe came from {}.\n" * 3
    places = {
        "capitals": "Rome Italy Oslo Norway Paris France",
        "moods": "sad glad bad good no yes",
    }
    for name, words in places.items():
        (folder / f"{name}.tsv").write_text(pairs.format(*words.split()))
    project.configure(**SMALL_RUN, datasets=base_datasets(project) | RELATIONS["datasets"])
    new_cells(project)
    page = (project.results / "tables" / "own" / "table1.md").read_text()
    assert "Capitals" in page and "Moods" in page
    assert "is trained, and there is nothing to train it on" in page


@pytest.mark.slow
def test_a_data_set_of_other_question_types_gets_its_own_table_and_figure(project):
    """Its questions are those of the project with other first words."""
    mine = dict(OWN_DATA["datasets"]["mine"])
    for split in ("train", "dev", "test"):
        text = (project.data / f"{split}.tsv").read_text()
        for old, new in (("who", "what"), ("when", "how"), ("where", "why")):
            text = re.sub(rf"(?m)^([^\t]+)\t{old} ", rf"mine-\1\t{new} ", text)
        mine[split] = f"data/mine-{split}.tsv"
        (project.folder / mine[split]).write_text(text)
    project.configure(
        **SMALL_RUN | {"subsets": SMALL_RUN["subsets"] | OWN_DATA["subsets"]},
        datasets=base_datasets(project) | {"mine": mine},
        question_types=OWN_DATA["question_types"],
    )
    assert "mine" in {cell[1] for cell in new_cells(project)}
    page = (project.results / "tables" / "own" / "table1.md").read_text()
    assert page.startswith("# Mine: mean reciprocal rank\n")
    assert "not run" not in page.partition("\n- ")[0]
    rows = read_csv(project.results / "tables" / "own" / "table1.csv")
    columns = {"What", "How", "Why", "All"}
    assert columns == {row["column"] for row in rows if row["ci_low"]} & columns
    assert (project.results / "figures" / "own" / "figure1.png").stat().st_size > 0
    assert "mine" not in (project.results / "tables" / "diallo2019" / "table4.md").read_text()


def add_kind(library):
    """Add the kind of numbers of the page: two files change."""
    field, keys, function, kind = texts_of("python", EXTENDING[-1:])
    file = library / "settings" / "coordinates.py"
    text = file.read_text().replace("KINDS = {\n", f"KINDS = {{\n    {keys}\n", 1)
    file.write_text(text.replace("    over: str", f"    {field}\n    over: str", 1))
    file = library / "evaluation" / "published.py"
    head = "FROM_METRICS: dict[str, Callable[[pd.DataFrame, Config], pd.DataFrame]] = {\n"
    file.write_text(file.read_text().replace(head, f"{function}\n\n{head}    {kind}\n", 1))


def test_a_paper_is_added_by_a_folder_alone_and_a_kind_of_numbers_by_two_files(project):
    add_kind(project.folder.parent / "workflow_scripts" / "analogyqa")
    folder = project.folder.parent / "papers" / "toy"
    folder.mkdir()
    (folder / "paper.yaml").write_text(TOY)
    (folder / "config.yaml").write_text(TOY_CONFIG)
    words = ": places\nRome Italy Oslo Norway\nOslo Norway Paris France\n"
    (project.data / "words.txt").write_text(words)
    systems = {name: value for name, value in SMALL_RUN["systems"].items() if name != "bm25"}
    project.configure(**{**SMALL_RUN, "papers": ["diallo2019", "toy"], "systems": systems})
    # BM25 is among the further systems of the first paper's tables.
    assert {cell[0] for cell in new_cells(project)} == {"toy", "bm25"}

    def rows_of(path):
        return {row["row"]: row for row in read_csv(project.results / path)}

    ranked = rows_of("tables/toy/table1.csv")
    assert ranked["Others"]["published"] == "0.412"
    assert 0 <= float(ranked["Analogy"]["mean"]) <= 1
    assert ranked["BM25"]["mean"]
    assert ranked["Analogy"]["n_items"] == ranked["BM25"]["n_items"]
    solved = read_csv(project.results / "tables/toy/table3.csv")
    assert {row["n_seeds"] for row in solved if row["row"] == "Analogy" and row["mean"]} == {"2"}
    assert "nothing to train it on" in (project.results / "tables/toy/table3.md").read_text()
    for name, count in (("tables/toy/table2", 4), ("figures/toy/figure1", 2),
                        ("figures/toy/figure2", 4)):  # fmt: skip
        values = [row["mean"] for row in read_csv(project.results / f"{name}.csv")]
        assert len(values) == count and all(values), name
    ledger = [row for row in read_csv(project.results / "ledger.csv") if row["paper"] == "toy"]
    # Analogy in tables 1 and 4, four values in table 2; a cited or missing value has no row.
    assert len(ledger) == 6
    (deviation,) = [row for row in ledger if row["kind"] == "sd"]
    assert (deviation["measure"], deviation["verdict"]) == ("mrr", "not comparable")
    assert 0 <= float(deviation["mean"]) < 1
    deviations = rows_of("tables/toy/table4.csv")
    assert deviations["Analogy"]["mean"] == deviation["mean"]
    assert deviations["BM25"]["mean"] == "0"
    (claim,) = [row for row in read_csv(project.results / "claims.csv") if row["paper"] == "toy"]
    assert claim["claim"] == "larger-is-better" and claim["p_value"]


def test_the_paper_of_the_page_can_be_read():
    page = {"paper": "page", "citation": "Page.", **PAPER}
    page["artefacts"] = PAPER["artefacts"] | VIEW
    assert Paper.model_validate(page).tables_and_figures == ["table1", "figure1", "figure2"]
