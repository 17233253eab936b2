"""The steps of the pages on extending: encoders, a data set of one's own, a paper."""

import re
import shutil

import pytest
import yaml

from analogyqa.settings.paper import Paper
from builders.pages import EXTENDING, plugins, texts_of
from builders.projects import SMALL_RUN, Project, cells_of, read_csv

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


def run(project, *arguments):
    return project.run("--snakefile", str(project.folder.parent / "Snakefile"), *arguments)


def jobs(project):
    return project.jobs("--snakefile", str(project.folder.parent / "Snakefile"))


def add_encoders(project):
    """Write the encoders of the page, and their lines in `specs.py`."""
    library = project.folder.parent / "workflow_scripts" / "analogyqa"
    specs = library / "encoders" / "specs.py"
    encoders = plugins("EncoderSpec")
    assert len(encoders) == 2
    for code, line, name in encoders:
        assert code.count("\n") < 30
        (library / "encoders" / f"{name}.py").write_text(code)
        text = specs.read_text()
        specs.write_text(text.replace("ENCODERS = {\n", f"ENCODERS = {{\n    {line}\n", 1))
    project.configure(**{**SMALL_RUN, "systems": {**SMALL_RUN["systems"], **SYSTEMS["systems"]}})
    return library / "encoders"


def test_the_encoders_of_the_page_have_rows_in_the_tables(project):
    add_encoders(project)
    assert {cell.split("/")[0] for cell in cells_of(jobs(project))} == {"linear", "largest"}
    done = run(project)
    assert done.returncode == 0, done.stdout
    for table in ("table3", "table4"):
        page = (project.results / "tables" / "diallo2019" / f"{table}.md").read_text()
        for title in ("Linear", "Largest"):
            assert re.search(rf"\| {title}\b.*\.\d{{3}}", page), page


@pytest.mark.draw
def test_an_encoder_that_does_not_keep_the_interface_stops_before_any_job(project):
    path = add_encoders(project) / "linear.py"
    path.write_text(path.read_text().replace(" * inside[:, :, None]", ""))
    done = run(project)
    assert done.returncode != 0
    assert "the encoder linear (analogyqa.encoders.linear:LinearEncoder): padding" in done.stdout
    assert "Finished jobid" not in done.stdout


def with_other_questions(project):
    """Give the project the data set of the page: its own questions with other first words."""
    new_words = {"who": "what", "when": "how", "where": "why"}
    for split in ("train", "dev", "test"):
        lines = (project.data / f"{split}.tsv").read_text().splitlines()
        fields = [line.split("\t") for line in lines]
        for row in fields[1:]:
            first_word, other_words = row[1].split(maxsplit=1)
            row[0], row[1] = f"mine-{row[0]}", f"{new_words[first_word]} {other_words}"
        (project.data / f"mine-{split}.tsv").write_text(
            "".join("\t".join(row) + "\n" for row in fields)
        )
    changes = {key: dict(value) for key, value in OWN_DATA.items()}
    mine = changes["datasets"]["mine"]
    mine |= {split: f"data/mine-{split}.tsv" for split in ("train", "dev", "test")}
    sections = {**SMALL_RUN, "subsets": {**SMALL_RUN["subsets"], **changes["subsets"]}}
    base = yaml.safe_load((project.folder / "config.yaml").read_text())
    sections["datasets"] = {**base["datasets"], **changes["datasets"]}
    sections["question_types"] = changes["question_types"]
    project.configure(**sections)


@pytest.mark.slow
def test_a_folder_of_relations_gets_its_own_table(project):
    folder = project.folder / RELATIONS["datasets"]["mine"]["test"]
    folder.mkdir(parents=True)
    places = {
        "capitals": "Rome Italy Oslo Norway Paris France",
        "moods": "sad glad bad good dull bright",
    }
    for name, text in places.items():
        words = text.split()
        pairs = zip(words[::2], words[1::2], strict=True)
        lines = [f"We went to {one}.\tWe came from {other}.\n" for one, other in pairs]
        (folder / f"{name}.tsv").write_text("".join(lines))
    base = yaml.safe_load((project.folder / "config.yaml").read_text())
    datasets = {**base.get("datasets", {}), **RELATIONS["datasets"]}
    project.configure(**{**SMALL_RUN, "datasets": datasets})
    done = run(project)
    assert done.returncode == 0, done.stdout
    page = (project.results / "tables" / "own" / "table1.md").read_text()
    assert "Capitals" in page and "Moods" in page
    assert "is trained, and there is nothing to train it on" in page


@pytest.mark.slow
def test_a_data_set_of_other_question_types_gets_its_own_table_and_figure(project):
    with_other_questions(project)
    assert "mine" in {cell.split("/")[1] for cell in cells_of(jobs(project))}
    done = run(project)
    assert done.returncode == 0, done.stdout
    page = (project.results / "tables" / "own" / "table1.md").read_text()
    assert page.startswith("# Mine: mean reciprocal rank\n")
    assert "not run" not in page.partition("\n- ")[0]
    rows = read_csv(project.results / "tables" / "own" / "table1.csv")
    assert {row["column"] for row in rows} >= {"What", "How", "Why", "All"}
    assert all(row["ci_low"] for row in rows if row["column"] in ("What", "How", "Why", "All"))
    assert (project.results / "figures" / "own" / "figure1.png").stat().st_size > 0
    assert "mine" not in (project.results / "tables" / "diallo2019" / "table4.md").read_text()


def add_kind(library):
    """Add the kind of numbers of the page: two files change."""
    field, keys, function, kind = texts_of("python", EXTENDING[-1:])
    coordinates_file, kinds_file = (
        library / "settings" / "coordinates.py",
        library / "evaluation" / "published.py",
    )
    text = coordinates_file.read_text().replace("KINDS = {\n", f"KINDS = {{\n    {keys}\n", 1)
    coordinates_file.write_text(text.replace("    over: str", f"    {field}\n    over: str", 1))
    head = "FROM_METRICS: dict[str, Callable[[pd.DataFrame, Config], pd.DataFrame]] = {\n"
    entry = f"{function}\n\n{head}    {kind}\n"
    kinds_file.write_text(kinds_file.read_text().replace(head, entry, 1))


def test_a_paper_is_added_by_a_folder_alone_and_a_kind_of_numbers_by_two_files(project):
    add_kind(project.folder.parent / "workflow_scripts" / "analogyqa")
    folder = project.folder.parent / "papers" / "toy"
    folder.mkdir()
    (folder / "paper.yaml").write_text(TOY)
    (folder / "config.yaml").write_text(TOY_CONFIG)
    (project.data / "words.txt").write_text(
        ": places\nRome Italy Oslo Norway\nOslo Norway Paris France\n"
    )
    systems = {name: value for name, value in SMALL_RUN["systems"].items() if name != "bm25"}
    project.configure(**{**SMALL_RUN, "papers": ["diallo2019", "toy"], "systems": systems})
    # BM25 is among the further systems of the first paper's tables.
    assert {cell.split("/")[0] for cell in cells_of(jobs(project))} == {"toy", "bm25"}
    done = run(project)
    assert done.returncode == 0, done.stdout
    tables, figures = (project.results / name / "toy" for name in ("tables", "figures"))
    rows = {row["row"]: row for row in read_csv(tables / "table1.csv")}
    assert rows["Others"]["published"] == "0.412"
    assert float(rows["Analogy"]["mean"]) <= 1
    assert rows["BM25"]["mean"]
    assert rows["Analogy"]["n_items"] == rows["BM25"]["n_items"]
    assert all(row["mean"] for row in read_csv(tables / "table2.csv"))
    solved = read_csv(tables / "table3.csv")
    assert all(row["mean"] for row in solved if row["row"] == "Analogy")
    assert {row["n_seeds"] for row in solved if row["row"] == "Analogy"} == {"2"}
    assert "nothing to train it on" in (tables / "table3.md").read_text()
    for figure, points in (("figure1", 2), ("figure2", 4)):
        drawn = read_csv(figures / f"{figure}.csv")
        assert len(drawn) == points
        assert all(row["mean"] for row in drawn)
        assert (figures / f"{figure}.svg").stat().st_size > 0
    ledger = [row for row in read_csv(project.results / "ledger.csv") if row["paper"] == "toy"]
    # Analogy in tables 1 and 4, four values in table 2; a cited or missing value has no row.
    assert len(ledger) == 6
    (deviation,) = [row for row in ledger if row["kind"] == "sd"]
    assert (deviation["measure"], deviation["verdict"]) == ("mrr", "not comparable")
    assert 0 <= float(deviation["mean"]) < 1
    deviations = {row["row"]: row for row in read_csv(tables / "table4.csv")}
    assert deviations["Analogy"]["mean"] == deviation["mean"]
    assert deviations["BM25"]["mean"] == "0"
    (claim,) = [row for row in read_csv(project.results / "claims.csv") if row["paper"] == "toy"]
    assert claim["claim"] == "larger-is-better"
    assert claim["p_value"]


def test_the_paper_of_the_page_can_be_read():
    page = {"paper": "page", "citation": "Page.", **PAPER}
    page["artefacts"] = PAPER["artefacts"] | VIEW
    assert Paper.model_validate(page).tables_and_figures == ["table1", "figure1", "figure2"]
