"""Train word vectors: fastText on texts, word2vec on the sentences of corpora."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from threadpoolctl import threadpool_limits

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path
from analogyqa.text import tokenize
from analogyqa.vectors.fasttext_files import require_complete_fasttext
from analogyqa.vectors.files import read_packed_lines
from analogyqa.vectors.store import require_complete


def train_vectors(
    texts: list[str], path: str | Path, dim: int, epochs: int, min_count: int, lowercase: bool
) -> None:
    """Train fastText skip-gram vectors on text files, and save the model (`.bin`).

    Uses one thread, so that the result is reproducible.

    Args:
        texts: UTF-8 files, which may be gzipped; they are tokenised like the corpora.
        dim: The dimension of a vector.
        epochs: The number of passes over the texts.
        min_count: The frequency below which words are ignored.

    Raises AnalogyQAError when no word is frequent enough, or training diverges.
    """
    import fasttext

    with atomic_path(path) as model_path:
        try:
            with _tokenised(read_texts(texts), model_path, lowercase) as text_path:
                sizes = {"dim": dim, "epoch": epochs, "minCount": min_count}
                model = fasttext.train_unsupervised(
                    str(text_path), model="skipgram", thread=1, verbose=0, **sizes
                )
        except (ValueError, RuntimeError) as error:  # RuntimeError: the loss is not a number
            raise AnalogyQAError(
                f"{', '.join(texts)}: fastText could not train on this text ({error}). Does any "
                f"word occur {min_count} times (min_count)?"
            ) from error
        model.save_model(str(model_path))
        require_complete(model_path, require_complete_fasttext)


def train_word2vec(
    sentences: Iterable[str],
    path: str | Path,
    dim: int,
    window: int,
    epochs: int,
    min_count: int,
    lowercase: bool,
    model: str = "skip_gram",
    seed: int = 0,
) -> None:
    """Train word2vec, and save the vectors in its binary format.

    As by gensim's defaults, five negatives are drawn, and frequent words are subsampled at 1e-3
    (Mikolov et al. 2013). Uses one worker, so that the result is reproducible.

    Args:
        sentences: Texts, which are tokenised like the corpora.
        window: The largest distance between two words of a context.
        dim, epochs, min_count: As for `train_vectors`.
        model: `skip_gram`, with hierarchical softmax as well, or `cbow`.
        seed: The seed of initial weights and random draws.

    Raises AnalogyQAError when no word is frequent enough.
    """
    from gensim.models import Word2Vec

    skip_gram = int(model == "skip_gram")
    # gensim warns when both losses are used.
    logging.getLogger("gensim.models.word2vec").setLevel(logging.ERROR)
    with atomic_path(path) as vectors_path:
        try:
            with (
                _tokenised(sentences, vectors_path, lowercase) as text_path,
                threadpool_limits(1),
            ):
                trained = Word2Vec(
                    corpus_file=str(text_path), vector_size=dim, window=window, epochs=epochs,
                    min_count=min_count, sg=skip_gram, hs=skip_gram, negative=5, sample=1e-3,
                    workers=1, seed=1 + seed,
                )  # fmt: skip
        except RuntimeError as error:
            raise AnalogyQAError(
                f"{path}: word2vec could not train ({error}). Does any word of the corpora occur "
                f"{min_count} times (min_count)?"
            ) from error
        trained.wv.save_word2vec_format(str(vectors_path), binary=True)


def read_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of several files, as `read_packed_lines` does."""
    return chain.from_iterable(map(read_packed_lines, texts))


@contextmanager
def _tokenised(sentences: Iterable[str], path: Path, lowercase: bool) -> Iterator[Path]:
    """Write tokenised sentences to a temporary text file next to `path`, and yield its path."""
    text_path = path.with_suffix(".txt")
    try:
        with open(text_path, "w", encoding="utf-8") as joined:
            for sentence in sentences:
                joined.write(" ".join(tokenize(sentence, lowercase)) + "\n")
        yield text_path
    finally:
        text_path.unlink(missing_ok=True)
