"""The tasks: ranking the candidates of a question, and solving analogies between sentence pairs.

Modules that work on a data set get its task here, and do not ask which one it is. Both tasks have
the attributes and methods that `Ranking` describes.
"""

from analogyqa.settings.data import Dataset
from analogyqa.tasks.analogies import Analogies
from analogyqa.tasks.ranking import Ranking


def task_of(dataset: Dataset) -> Ranking | Analogies:
    return Analogies() if dataset.gives_relations else Ranking()
