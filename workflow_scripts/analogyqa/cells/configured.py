"""The part of the configuration that a result depends on, compared with that of an earlier run.

Every record keeps it. Snakemake compares parameters too, but with its own metadata: it has none
after `.snakemake` was deleted, does not read them with restricted rerun triggers, and believes them
after `--touch`.
"""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from analogyqa.cells.cell import Cell, split_corpus
from analogyqa.cells.related import fused_parts
from analogyqa.errors import AnalogyQAError
from analogyqa.settings import overrides as ov
from analogyqa.settings.data import WEIGHTED_BY
from analogyqa.settings.run import Config
from analogyqa.tasks import task_of

Configured = dict[str, Any]  # a JSON value

_NOT_IN_CORPUS = {"title", "questions", "evaluation", "columns", "encoding"}
_IRRELEVANT = {"title", "only_costs"}  # keys of a system that change no number


def configured_cell(config: Config, cell: Cell) -> Configured:
    """Return the configuration that the numbers of a cell depend on."""
    choices = config.hyperparameter_choices(cell.system, cell.overrides)
    systems = {
        name: config.system_at(cell.system, overrides) for name, overrides in choices.items()
    }
    system = next(iter(systems.values()))
    excluded = _IRRELEVANT | {"training", "starts_from"}
    if not system.needs_prototypes:
        excluded.add("p")
    training = {name: at.training.model_dump(mode="json") for name, at in systems.items()}
    start, dataset = system.starts_from, config.datasets[cell.dataset]
    # A fold has the questions of all types.
    fold = config.dataset_at(cell.dataset, cell.overrides).fold
    types = None if fold else config.types_of(cell.subset)
    # Means over categories are taken after the run.
    evaluation = dataset.evaluation_at(cell.overrides).model_dump(exclude={WEIGHTED_BY})
    values = {
        "seeds": config.seeds_at(cell.subset, cell.overrides),
        "question_types": config.types_of(cell.subset),
        "system": system.model_dump(mode="json", exclude=excluded),
        "training": training if system.trained else None,
        "starts_from": start and start.model_dump(mode="json", exclude=_IRRELEVANT),
        "corpus": configured_corpus(config, cell.corpus, types),
        "evaluation": evaluation if dataset.gives_relations else None,
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
    if system.rewriting and (entities := config.named_entities):
        vectors = configured_vectors(config, entities.vectors)
        values["named_entities"] = entities.model_dump(mode="json") | {"vectors": vectors}
    return values


def configured_corpus(
    config: Config, corpus: str, types: Collection[str] | None = None
) -> Configured:
    """Return the configuration that the table of a corpus depends on.

    `types` are the question types that matter, None for all. A question has a single type, so the
    definitions of other types change nothing about it.
    """
    dataset = config.dataset_at(*split_corpus(corpus))
    values = dataset.model_dump(mode="json", exclude=_NOT_IN_CORPUS)
    values |= {"options": dataset.reader_options} if dataset.reader_options else {}
    values["question_types"] = None
    if task_of(dataset).has_question_types:
        values["question_types"] = {
            name: words
            for name, words in config.question_types.items()
            if types is None or name in types
        }
    values["parser"] = None
    if dataset.categories:
        values["categories"] = {
            name: config.categories[name].model_dump(mode="json", exclude={"title"})
            for name in dataset.categories
        }
        values["parser"] = config.parser and config.parser.model_dump(mode="json")
    return values


def configured_vectors(config: Config, name: str) -> Configured:
    """Return the configuration of word vectors, by the name that `System.word_vectors` has."""
    vectors = config.vectors_at(name)
    values = vectors.model_dump(mode="json") | {"lowercase": config.is_lowercase(vectors)}
    values["corpora"] = {
        dataset: {"splits": splits, **configured_corpus(config, dataset, ())}
        for dataset, splits in (vectors.corpora or {}).items()
    }
    lemmas = config.lemmas if vectors.lemmas else None
    return values | {"lemmas": lemmas and lemmas.model_dump(mode="json")}


def configured_sentences(config: Config, name: str) -> Configured:
    """Return the configuration that sentence vectors depend on."""
    section = config.sentence_vectors[name]
    values = section.model_dump(mode="json") | {"lowercase": config.is_lowercase(section)}
    dataset = section.disjoint_from
    values |= {"disjoint_from": dataset and configured_corpus(config, dataset, ())}
    return values | {"vectors": section.vectors and configured_vectors(config, section.vectors)}


def differences(before: object, now: object, key: str = "") -> Iterator[str]:
    """Yield a line for each key at which two JSON values differ: `training.margin: 1, now 2`."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name in dict.fromkeys([*before, *now]):
            below = f"{key}.{name}" if key else str(name)
            yield from differences(before.get(name), now.get(name), below)
    elif before != now:
        yield f"{key}: {ov.text_of(before)}, now {ov.text_of(now)}"


def require_same(path: str | Path, configured: Configured) -> None:
    """Raise AnalogyQAError when a result was made with another configuration.

    Args:
        path: The record of the result, a JSON file with the key `configured`.
        configured: The current configuration of the result.
    """
    try:
        before = json.loads(Path(path).read_text(encoding="utf-8"))["configured"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        before = None  # not a record, or one written by older code
    if before == configured:
        return
    changed = list(differences(before, configured)) if before else ["the record does not say which"]
    raise AnalogyQAError(
        f"{path}: made with other settings ({'; '.join(changed[:3])}), but Snakemake would keep "
        "it: it has no metadata for the file, has those of another one, or was told not to compare "
        "parameters or to --touch the file. Restore those settings, choose another output_dir, or "
        "run everything again with --forceall, without --touch (training runs with unchanged "
        "settings are read from checkpoints/)."
    )
