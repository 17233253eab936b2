"""Train word vectors with fastText."""

from pathlib import Path

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
