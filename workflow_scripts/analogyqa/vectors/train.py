"""Train word vectors: fastText on texts, word2vec on the sentences of corpora."""

import logging
from collections.abc import Iterable
from pathlib import Path

from threadpoolctl import threadpool_limits

from analogyqa.errors import AnalogyQAError
from analogyqa.files import atomic_path
from analogyqa.text import tokenize
from analogyqa.vectors.fasttext_files import require_whole_fasttext
from analogyqa.vectors.store import require_whole
from analogyqa.vectors.text_files import open_packed


def train_vectors(
    texts: list[str], path: str | Path, dim: int, epochs: int, min_count: int, lowercase: bool
) -> None:
    """Train fastText skip-gram vectors on text files and save the model to `path`.

    The texts are UTF-8, may be gzipped, and are tokenised as the corpora are. One thread, so that
    the same text gives the same vectors.

    Raises AnalogyQAError when no word is frequent enough.
    """
    import fasttext

    with atomic_path(path) as model_path:
        text_path = model_path.with_suffix(".txt")
        try:
            with open(text_path, "wb") as joined:
                for text in texts:
                    with open_packed(text) as (_, lines):
                        for line in lines:
                            tokens = tokenize(line.decode("utf-8", errors="replace"), lowercase)
                            joined.write(" ".join(tokens).encode() + b"\n")
            sizes = {"dim": dim, "epoch": epochs, "minCount": min_count}
            model = fasttext.train_unsupervised(
                str(text_path), model="skipgram", thread=1, verbose=0, **sizes
            )
        except (ValueError, RuntimeError) as error:  # the latter when a loss is not a number
            raise AnalogyQAError(
                f"{', '.join(texts)}: fastText could not train on it ({error}). Is the text empty, "
                f"or does no word come {min_count} times (min_count)?"
            ) from error
        finally:
            text_path.unlink(missing_ok=True)
        model.save_model(str(model_path))
        require_whole(model_path, require_whole_fasttext)


def train_word2vec(
    sentences: Iterable[str],
    path: str | Path,
    dim: int,
    window: int,
    epochs: int,
    min_count: int,
    lowercase: bool,
) -> None:
    """Train skip-gram vectors with hierarchical softmax and save them as word2vec's binary form.

    Five negatives are drawn beside it, and frequent words are sampled at 1e-3 (Mikolov et al.
    2013), both as gensim does by default. The sentences are tokenised as the corpora are. One
    worker, so that the same sentences give the same bytes.

    Raises AnalogyQAError when no word is frequent enough.
    """
    from gensim.models import Word2Vec

    # That both losses are asked for would be a warning on the terminal.
    logging.getLogger("gensim.models.word2vec").setLevel(logging.ERROR)
    with atomic_path(path) as vectors_path:
        text_path = vectors_path.with_suffix(".txt")
        try:
            with open(text_path, "w", encoding="utf-8") as joined:
                for sentence in sentences:
                    joined.write(" ".join(tokenize(sentence, lowercase)) + "\n")
            with threadpool_limits(1):
                model = Word2Vec(
                    corpus_file=str(text_path), vector_size=dim, window=window, epochs=epochs,
                    min_count=min_count, sg=1, hs=1, negative=5, sample=1e-3, workers=1, seed=1,
                )  # fmt: skip
        except RuntimeError as error:
            raise AnalogyQAError(
                f"{path}: word2vec could not train ({error}). Have the corpora any text, and does "
                f"a word come {min_count} times (min_count)?"
            ) from error
        finally:
            text_path.unlink(missing_ok=True)
        model.wv.save_word2vec_format(str(vectors_path), binary=True)
