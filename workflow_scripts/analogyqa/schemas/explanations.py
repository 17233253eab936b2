"""Schema of the explanation of a ranking, a JSON value. Training does not import this module."""

from pydantic import BaseModel, TypeAdapter

# Words of a sentence, each with the share of the dimensions of the sentence vector that it won when
# the encoder took the maximum over the words, the largest share first.
WordShares = list[tuple[str, float]]
Point = tuple[float, float]


class Shifts(BaseModel):
    """The shifts, question minus answer, on their first two principal components.

    The points have the order of the candidates and prototypes. `shares` are the shares of the
    variance of all shifts on the two components.
    """

    candidates: list[Point]
    prototypes: list[Point]
    shares: Point


class Prototype(BaseModel):
    """A prototype of the question's type."""

    question: str
    answer: str
    question_words: WordShares
    answer_words: WordShares


class Candidate(BaseModel):
    """A ranked candidate.

    `label` is null for a new text, and `unknown` are its words without a vector, which are ignored.
    `matches` are the words of the question, each with the most similar word of the candidate and
    their cosine, for a ranker that adds these up. `nearest` are the numbers of the most similar
    prototypes, each with the score that it alone would give. `decided_by` is the one whose score
    the candidate has; null if the score depends on several.
    """

    candidate_id: str
    candidate: str
    label: int | None
    score: float
    unknown: str = ""
    words: WordShares
    matches: list[tuple[str, str, float]]
    nearest: list[tuple[int, float]] = []
    decided_by: int | None = None


class Explanation(BaseModel):
    """How a run ranked the candidates of a question, the best first.

    Without prototypes, there are no shifts.
    """

    run: str
    seed: int
    question_id: str
    question: str
    words: WordShares
    candidates: list[Candidate]
    prototypes: list[Prototype] = []
    shifts: Shifts | None = None


EXPLANATIONS = TypeAdapter(list[Explanation])
