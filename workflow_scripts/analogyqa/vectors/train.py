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

    Uses one thread, so that the result is reproducible, in a process that has not used much memory
    before: with one thread fastText 0.9.3 initialises only a tenth of its input matrix (fastText's
    issue 1061), and the rest is zero only where the memory is fresh.

    Args:
        texts: UTF-8 files, which may be gzipped; they are tokenised like the corpora.
        dim: The dimension of a vector.
        epochs: The number of passes over the texts.
        min_count: The frequency below which words are ignored.

    Raises AnalogyQAError when no word is frequent enough, or training diverges.
    """
    import fasttext

    program, sizes = f"{', '.join(texts)}: fastText", {"dim": dim, "epoch": epochs}
    with _training(program, read_texts(texts), path, min_count, lowercase) as (text, model_path):
        model = fasttext.train_unsupervised(
            str(text), model="skipgram", thread=1, verbose=0, minCount=min_count, **sizes
        )
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
    with (
        _training(f"{path}: word2vec", sentences, path, min_count, lowercase) as (text, model_path),
        threadpool_limits(1),
    ):
        trained = Word2Vec(
            corpus_file=str(text), vector_size=dim, window=window, epochs=epochs,
            min_count=min_count, sg=skip_gram, hs=skip_gram, negative=5, sample=1e-3,
            workers=1, seed=1 + seed,
        )  # fmt: skip
        trained.wv.save_word2vec_format(str(model_path), binary=True)


def read_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the lines of several files, as `read_packed_lines` does."""
    return chain.from_iterable(map(read_packed_lines, texts))


@contextmanager
def _training(
    program: str, sentences: Iterable[str], path: str | Path, min_count: int, lowercase: bool
) -> Iterator[tuple[Path, Path]]:
    """Yield the temporary paths of the tokenised sentences and of the vectors."""
    with atomic_path(path) as model_path:
        text_path = model_path.with_suffix(".txt")
        try:
            with open(text_path, "w", encoding="utf-8") as file:
                file.writelines(
                    " ".join(tokenize(sentence, lowercase)) + "\n" for sentence in sentences
                )
            yield text_path, model_path
        except (ValueError, RuntimeError) as error:  # RuntimeError: the loss is not a number
            raise AnalogyQAError(
                f"{program} could not train on this text ({error}). Does any word occur "
                f"{min_count} times (min_count)?"
            ) from error
        finally:
            text_path.unlink(missing_ok=True)
