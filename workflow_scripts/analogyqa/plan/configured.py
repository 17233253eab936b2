"""What of the configuration a result depends on, and how that differs from what it was made with.

A record keeps this beside its result. Snakemake compares parameters as well, but only while it has
metadata of the file: not after `.snakemake` was deleted, or where its triggers are restricted.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analogyqa.errors import AnalogyQAError
from analogyqa.plan.cell import Cell, split_corpus
from analogyqa.plan.fused import fused_parts
from analogyqa.settings import overrides as ov
from analogyqa.settings.run import Config

Configured = dict[str, Any]  # a value of JSON

_NOT_OF_A_SYSTEM = {"title", "only_costs"}


def configured_cell(config: Config, cell: Cell) -> Configured:
    """Return what the numbers of a cell depend on."""
    choices = config.hyperparameter_choices(cell.system, cell.overrides)
    systems = {
        name: config.system_at(cell.system, overrides) for name, overrides in choices.items()
    }
    system = next(iter(systems.values()))
    elsewhere = {"training", "starts_from"} | (set() if system.needs_prototypes else {"p"})
    training = {name: each.training.model_dump(mode="json") for name, each in systems.items()}
    start = system.starts_from
    values = {
        "seeds": config.seeds_at(cell.subset, cell.overrides),
        "question_types": config.types_of(cell.subset),
        "system": system.model_dump(mode="json", exclude=_NOT_OF_A_SYSTEM | elsewhere),
        "training": training if system.trained else None,
        "starts_from": start and start.model_dump(mode="json", exclude=_NOT_OF_A_SYSTEM),
        "corpus": configured_corpus(config, cell.corpus),
        "vectors": system.word_vectors and configured_vectors(config, system.word_vectors),
        "sentence_vectors": {
            name: configured_sentences(config, name)
            for name in system.sentence_vectors or ()
            if name in config.sentence_vectors
        },
        "named_entities": None,
        "parts": {
            name: configured_cell(config, part) for name, part in fused_parts(config, cell).items()
        },
    }
    if system.rewriting and (found := config.named_entities):
        vectors = configured_vectors(config, found.vectors)
        values["named_entities"] = found.model_dump(mode="json") | {"vectors": vectors}
    return values


def configured_corpus(config: Config, corpus: str) -> Configured:
    """Return what the table of a corpus depends on."""
    dataset = config.dataset_at(*split_corpus(corpus))
    values = dataset.model_dump(mode="json", exclude={"title", "questions"})
    values["question_types"] = None if dataset.solved else config.question_types
    values["parser"] = None
    if dataset.categories:
        values["categories"] = {
            name: config.categories[name].model_dump(mode="json", exclude={"title"})
            for name in dataset.categories
        }
        values["parser"] = config.parser and config.parser.model_dump(mode="json")
    return values


def configured_vectors(config: Config, name: str) -> Configured:
    """Return what word vectors depend on; `name` is that of `System.word_vectors`."""
    vectors = config.vectors_at(name)
    values = vectors.model_dump(mode="json") | {"lowercase": config.is_lowercase(vectors)}
    values["corpora"] = {
        dataset: {"splits": splits, **configured_corpus(config, dataset)}
        for dataset, splits in (vectors.corpora or {}).items()
    }
    lemmas = config.lemmas if vectors.lemmas else None
    return values | {"lemmas": lemmas and lemmas.model_dump(mode="json")}


def configured_sentences(config: Config, name: str) -> Configured:
    """Return what sentence vectors depend on."""
    stored = config.sentence_vectors[name]
    values = stored.model_dump(mode="json") | {"lowercase": config.is_lowercase(stored)}
    return values | {"vectors": stored.vectors and configured_vectors(config, stored.vectors)}


def differences(before: object, now: object, key: str = "") -> Iterator[str]:
    """Yield a text for each key at which two values of JSON differ: `training.margin: 1, now 2`."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in dict.fromkeys([*before, *now]):
            below = f"{key}.{name}" if key else str(name)
            yield from differences(before.get(name), now.get(name), below)
    elif before != now:
        yield f"{key}: {ov.text_of(before)}, now {ov.text_of(now)}"


def require_same(path: str | Path, configured: Configured) -> None:
    """Raise AnalogyQAError when the result of a record was made with other settings than these.

    Args:
        path: a JSON file with the key `configured`.
        configured: what the configuration says now.
    """
    try:
        before = json.loads(Path(path).read_text(encoding="utf-8"))["configured"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        before = None  # a record of older code, or none
    if before == configured:
        return
    changed = list(differences(before, configured)) if before else ["which, it does not say"]
    raise AnalogyQAError(
        f"{path}: made with other settings ({'; '.join(changed[:3])}), and Snakemake keeps it: "
        "it has no metadata of the file, or is told not to compare parameters. Give the settings "
        "that it was made with, name another output_dir, or make all of it again: --forceall "
        "(training runs with unchanged settings are read from checkpoints/)"
    )
