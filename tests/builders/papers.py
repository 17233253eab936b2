"""A folder with one small paper, and configurations that overlay it."""

from pathlib import Path

import yaml

from analogyqa.cells import Cell, load_papers, reported_cells
from analogyqa.settings.base import merge
from analogyqa.settings.load import Origin, load_config
from analogyqa.settings.run import Config

CONFIG = """
datasets:
  toy: {title: Toy, reader: wikiqa, train: a/train, dev: a/dev, test: a/test,
        questions: {train: {who: 5, when: 6}}}
question_types: {who: [who], when: [when]}
subsets: {who: [who], both: [who, when]}
vectors:
  some: {source: some.vec}
  cased: {source: some.vec, lowercase: false}
sentence_vectors:
  means: {encoder: sif, vectors: some}
  published: {encoder: infersent, weights: infersent1, vectors: cased, lowercase: false}
named_entities: {model: some_model, vectors: some, labels: {who: [PERSON]}}
prototypes: {p: 3}
training: {dropout: 0.25, negatives: {per: question}}
systems:
  analogy: {title: A, encoder: bigru, vectors: some, ranker: analogy}
  baseline: {title: B, encoder: bigru, vectors: some, ranker: cosine}
  mean: {title: M, encoder: mean, vectors: some, ranker: analogy}
  mean-cosine: {title: C, encoder: mean, vectors: some, ranker: cosine}
  stored: {title: S, sentence_vectors: means, ranker: cosine}
  random: {title: R, encoder: random, ranker: cosine}
  words: {title: W, ranker: bm25}
selection:
  subset: both
  systems: [analogy]
  hyperparameters: {hinge: {loss: hinge}, drawn: {negatives.count: 4, dropout: 0}}
sensitivity:
  subset: both
  measure: mrr
  datasets: null
  systems: [analogy, baseline]
  choices:
    loss: {workshop: {loss: lwda}, stated: {loss: printed}}
    case: {kept: {vectors: cased}}
    aggregation: {mean: {aggregate: mean}}
    questions: {dropped: {drop_all_correct: [dev]}}
extra_rows: {table1: [mean-cosine]}
"""
PAPER = """
paper: small
citation: C
artefacts:
  table1:
    title: T
    cells: {dataset: toy, measure: mrr}
    columns: {Both: {subset: both}, Who: {subset: who}}
    rows: {Analogy: {system: analogy}, Mean: {system: mean}}
  figure1:
    title: F
    cells: {system: analogy, subset: both}
    x: {p: [2, 3, 4]}
    lines: {Toy: {dataset: toy}}
    panels: {MRR: {measure: mrr}}
claims:
  better:
    claim: c
    where: w
    cells: {dataset: toy, subset: who, measure: mrr}
    comparisons: [{better: {system: analogy}, worse: {system: baseline}}]
"""


class Papers:
    """A folder of papers, and runs of `small` with an overlay in YAML."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.write("small", CONFIG, PAPER)

    def write(self, name: str, config: str, paper: str = "") -> Path:
        """Write a paper's configuration, and its paper.yaml where it is given."""
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / name / "paper.yaml").write_text(paper)
        (self.folder / name / "config.yaml").write_text(config)
        return self.folder / name / "config.yaml"

    def values(self, over: str = "{}") -> dict:
        """Return the values of a run, not yet checked."""
        values = {"papers": ["small"], "output_dir": "out", "seeds": 2}
        return merge(values, yaml.safe_load(over))

    def load(self, over: str = "{}", given: tuple[Origin, ...] = ()) -> Config:
        return load_config(self.values(over), "config", given, self.folder)

    def cells(self, over: str = "{}") -> list[Cell]:
        config = self.load(over)
        return reported_cells(config, load_papers(config, self.folder))
