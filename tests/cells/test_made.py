"""Which files of a results folder a rule makes."""

import re
from pathlib import Path

import pytest

from analogyqa.cells.made import is_made, made_files
from analogyqa.evaluation.summary import find_records

RULES = Path(__file__).parents[2] / "rules"
SAMPLES = {
    **{"system": "analogy", "dataset": "wikiqa", "subset": "comb", "category": "capital-common"},
    **{
        "corpus": "wikiqa@fold=1of5-partition3",
        "overrides": "dropout=0@loss=hinge",
        "rewriting": "entity",
    },
    **{"before": "vectors=glove@", "after": "@pool=all", "solver": "3cosadd", "file": "run.json"},
    **{"vectors": "word2vec@dim=3", "sentence_vectors": "minilm", "paper": "own", "number": "12"},
    "name": "own",
}
RUN = "runs/analogy/wikiqa/comb"
LITTER = [
    f"{RUN}/default.bak/run.json",
    f"{RUN}/.ipynb_checkpoints/run.json",
    f"{RUN}/default/run-checkpoint.json",
    "runs/analogy.bak/wikiqa/comb/default/run.json",
    "tables/own/Copy of table7.md",
    "tables/own/table7 (1).csv",
    "corpora/._wikiqa.parquet",
    "corpora/wikiqa.parquet.tmp",
    "prototypes/wikiqa/who/caf\udce9.parquet",
    "costs/wikiqa/comb.json~",
    "notes/ledger.csv",
]


def declared_outputs() -> list[str]:
    """Return the outputs in the text of the rules, with sample values of their wildcards."""
    outputs = []
    for path in RULES.glob("*.smk"):
        for block in re.findall(r"(?m)^    output:\n((?: {8}.*\n)+)", path.read_text("utf-8")):
            for stem, rest in re.findall(r'f"\{(RESULTS|RUN)\}/([^"]+)"', block):
                kind = rest.partition("s/")[0]  # figures/ and tables/
                values = SAMPLES | {"artefact": f"{kind}12"}
                name = re.sub(r"\{+(\w+)\}+", lambda match, at=values: at[match[1]], rest)
                outputs.append(f"{RUN}/default/{name}" if stem == "RUN" else name)
    return outputs


def test_every_output_of_a_rule_is_made():
    outputs = declared_outputs()
    assert len(outputs) > 40
    outputs += ["checkpoints/infersent-8bc371.pt", "mlflow-artifacts/2/models/m-1/MLmodel"]
    assert [name for name in outputs if not is_made(name)] == []


@pytest.mark.parametrize("name", LITTER)
def test_copies_backups_and_locks_are_not_made(name):
    assert not is_made(name)


def test_a_search_finds_only_files_that_are_made(tmp_path):
    for name in [f"{RUN}/default/run.json", *LITTER]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert [*find_records(tmp_path)] == ["analogy/wikiqa/comb/default"]
    (tmp_path / RUN / "default" / "run.json").unlink()
    (tmp_path / RUN / "default" / "run.json").symlink_to("gone")
    assert made_files(tmp_path, "**/*") == []
