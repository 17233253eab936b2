"""A model as MLflow serves it: the loader that `mlflow.pyfunc` calls, and what it needs."""

import importlib.metadata
import tempfile
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

import mlflow.pyfunc
import numpy as np
import pandas as pd
from mlflow.exceptions import MlflowException
from mlflow.models import ModelSignature
from mlflow.types.schema import AnyType, Array, ColSpec, DataType, Object, Property, Schema

from analogyqa.errors import AnalogyQAError, shown
from analogyqa.model import Model

_TEXT = DataType.string
_RANKED = Object(
    [
        Property("candidate", _TEXT),
        Property("score", DataType.double),
        Property("unknown", _TEXT),
        Property("unread", DataType.long, required=False),
        Property("prototype_question", _TEXT, required=False),
        Property("prototype_answer", _TEXT, required=False),
    ]
)
SIGNATURE = ModelSignature(
    # MLflow would cast texts with NumPy: null beside texts cuts them, and a number becomes a text.
    inputs=Schema([ColSpec(AnyType(), "question"), ColSpec(AnyType(), "candidates")]),
    outputs=Schema([ColSpec(Array(_RANKED), "ranking")]),
)
# The library, and the packages on which the last bits of a score depend.
_PACKAGES = (
    "analogyqa",
    "torch",
    "transformers",
    "sentence-transformers",
    "numpy",
    "pandas",
    "pyarrow",
)
_DATA = "model"


class RankingModel:
    """Answers the requests of MLflow by `Model.rank_many`."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def predict(self, requests: pd.DataFrame) -> pd.DataFrame:
        """Rank the candidates of each question; many questions are scored in batches.

        Args:
            requests: The columns `question`, a text, and `candidates`, a list of texts.

        Returns the column `ranking`: for each question, the rows of `Model.rank`, the best first.

        Raises MlflowException, which a server answers with the status 400, for other columns and
        for what `Model.rank` refuses.
        """
        questions = [*zip(requests["question"], requests["candidates"], strict=True)]
        try:
            for number, (question, candidates) in enumerate(questions):
                _require_texts(question, candidates, f"row {number}")
            ranked = self.model.rank_many((question, list(texts)) for question, texts in questions)
        except AnalogyQAError as error:
            raise MlflowException.invalid_parameter_value(str(error)) from error
        rows = iter(ranked.drop(columns="question").to_dict("records"))
        return pd.DataFrame({"ranking": [[*islice(rows, len(texts))] for _, texts in questions]})


def _require_texts(question: object, candidates: object, row: str) -> None:
    """Raise AnalogyQAError, with the field, for anything but a text and a list of texts."""
    if not isinstance(candidates, list | tuple | np.ndarray):
        raise AnalogyQAError(f"{row}: candidates: {shown(candidates)} is not a list of texts")
    fields = {f"candidates[{number}]": text for number, text in enumerate(candidates)}
    for field, text in {"question": question, **fields}.items():
        if not isinstance(text, str):
            raise AnalogyQAError(f"{row}: {field}: {shown(text)} is not a text")


def _load_pyfunc(folder: str) -> RankingModel:
    """Load what `write_served` wrote; MLflow calls it by this name."""
    loaded = RankingModel(Model.open(folder))
    loaded.predict(_example(loaded.model))  # loads PyTorch and the weights before any request
    return loaded


def write_served(model: Model, folder: Path, metadata: Mapping[str, object]) -> None:
    """Write a model in MLflow's format; MLflow shows the metadata of its origin.

    `folder` is empty or not there.
    """
    versions = {name: importlib.metadata.version(name).partition("+")[0] for name in _PACKAGES}
    requirements = [f"{name}=={version}" for name, version in versions.items()]
    with tempfile.TemporaryDirectory() as temporary:
        empty = Path(temporary, _DATA)
        empty.mkdir()
        mlflow.pyfunc.save_model(
            folder,
            loader_module=__name__,
            data_path=str(empty),
            signature=SIGNATURE,
            input_example=_example(model),
            pip_requirements=requirements,
            metadata=dict(metadata),
        )
    # Not by MLflow, which would copy the vectors, 50 MB of each trained model.
    model.save(folder / "data" / _DATA)
    described = mlflow.models.Model.load(folder)
    described.model_size_bytes = sum(
        path.stat().st_size for path in folder.rglob("*") if path.is_file()
    )
    described.save(folder / "MLmodel")


def _example(model: Model) -> pd.DataFrame:
    """Return a request with a question of one of the model's types."""
    question_types, typed = model.learned.question_types, set(model.prototypes["question_type"])
    types = model.job.types or [name for name in question_types if name in typed]
    word = question_types[types[0]][0] if types else "what"
    candidates = ["It was Ada, in London, in 1843.", "It was long ago."]
    return pd.DataFrame({"question": [f"{word} was it?"], "candidates": [candidates]})
