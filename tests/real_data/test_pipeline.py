"""The pipeline on the real files: Table 2 equals the paper's, and a run names its inputs."""

import json
import os
from pathlib import Path

import pandas as pd
import pytest
import yaml

from builders.projects import REPOSITORY, Project

pytestmark = [pytest.mark.real_data]

MIRROR = os.environ.get("ANALOGYQA_MIRROR", "")


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """The results of the smallest run that has both data sets: one epoch, one seed."""
    if not Path(MIRROR, "wikiqa").is_dir():
        pytest.skip("ANALOGYQA_MIRROR names no folder with the real data")
    project = Project(tmp_path_factory.mktemp("real"))
    paper = REPOSITORY / "papers" / "diallo2019" / "config.yaml"
    systems = yaml.safe_load(paper.read_text("utf-8"))["systems"]
    config = {
        "output_dir": "results",
        "mirrors": [str(Path(MIRROR).resolve())],
        "seeds": 1,
        "papers": ["diallo2019"],
        "prototypes": {"p": 10},
        "sweeps": {"p": [10]},
        "training": {"max_epochs": 1, "sentence_dim": 50},
        "subsets": dict.fromkeys(["who", "when", "where"]),
        "systems": dict.fromkeys(set(systems) - {"analogy", "random"}),
        "vectors": dict.fromkeys(["word2vec", "glove"]),
        "selection": {"systems": []},
        "cross_validation": None,
        "sensitivity": {"systems": []},
    }
    project.write_config(config)
    project.make()
    # Table 2 counts the questions of all subsets, which needs the corpora alone.
    del config["subsets"]
    project.write_config(config)
    project.make("results/tables/diallo2019/table2.csv")
    return project.results


def test_table_2_is_the_papers_in_every_cell(results):
    table2 = pd.read_csv(results / "tables/diallo2019/table2.csv")
    assert len(table2) == 24
    assert (table2["mean"] == table2["published"]).all()
    assert (table2["verdict"] == "enforced").all()


def test_a_run_names_the_copy_of_train_all_that_it_read(results):
    record = json.loads((results / "runs/analogy/trecqa/comb/default/run.json").read_text("utf-8"))
    assert record["sources"]["train"] == "trecqa-train-all-rebuilt"
    assert record["stores"]["vectors"]["origin"] == "enwiki-105m-300d.fasttext"
