"""The names of the files that rules make; any other file in a results folder is no result."""

import re
from pathlib import Path

# A name of the configuration, one with overrides, and the path of a cell.
_NAME = r"[A-Za-z0-9][A-Za-z0-9_.-]*"
_OVERRIDE = r"[A-Za-z0-9_.]+=[A-Za-z0-9_.,:%+-]+"
_OVERRIDES = rf"{_OVERRIDE}(?:@{_OVERRIDE})*"
_AT = rf"{_NAME}(?:@{_OVERRIDES})?"
_CELL = rf"{_NAME}/{_NAME}/{_NAME}/(?:default|{_OVERRIDES})"
_JOB = r"(?:/[A-Za-z0-9][A-Za-z0-9_.,:%+@=-]*)+"
_STUDY = "(cross_validation(_folds)?|pairs|sensitivity)"
# The outputs of rules/*.smk, as patterns.
_MADE = (
    r"(summary|coverage|comparisons)\.csv|(ledger|claims)\.(csv|md)|configuration\.json|report\.html",
    rf"runs/{_CELL}/((scores|metrics|history|inside|decisions)\.parquet|(run|examples)\.json)",
    rf"runs/{_CELL}/weights\.pt",
    rf"(selection|costs)/{_NAME}/{_NAME}\.json",
    rf"(corpora|entities)/{_AT}\.(parquet|json)",
    rf"(rewritten|lemmas)/{_AT}/{_NAME}\.parquet",
    rf"prototypes/{_AT}/{_NAME}/seed\d+\.parquet",
    rf"quadruples/{_AT}/{_NAME}/p\d+/seed\d+/(train-\d+-per-(pair|question)|dev|test)\.parquet",
    rf"analogies/{_NAME}\.parquet|review/{_AT}\.md",
    rf"(sentence_)?vectors/{_AT}/{_AT}\.(npy|words\.txt|json)",
    rf"vectors/trained/{_AT}\.bin|sentence_vectors/trained/{_NAME}\.(pt|json)",
    rf"tables/{_NAME}/(table\d+\.(csv|md|tex)|{_STUDY}\.(csv|md))",
    rf"figures/{_NAME}/(figure\d+\.(png|svg|csv)|{_STUDY}\.(png|svg)|forest\.(png|svg)|verdicts\.svg)",
    rf"questions/{_NAME}\.md",
    # What jobs write besides their outputs.
    rf"checkpoints/{_NAME}\.pt|mlflow\.(db|imported\.json)|mlflow-artifacts/.+",
    rf"logs{_JOB}\.log|benchmarks{_JOB}\.jsonl",
)
_MADE_BY_A_RULE = re.compile("|".join(f"(?:{pattern})" for pattern in _MADE))
_BACKUP = re.compile(r"\.(bak|old|orig|save|swp|tmp)(?=[./@]|$)")


def is_made(name: str) -> bool:
    """Return whether a rule makes a file of this name, which is a path below a results folder.

    Names of copies, backups and locks are no results: `default (copy)`, `.ipynb_checkpoints`.
    """
    return bool(_MADE_BY_A_RULE.fullmatch(name)) and not _BACKUP.search(name)


def made_files(results: str | Path, *patterns: str) -> list[Path]:
    """Return the files of a results folder that rules make and that match a pattern, sorted."""
    return sorted(
        path
        for pattern in patterns
        for path in Path(results).glob(pattern)
        if is_made(path.relative_to(results).as_posix()) and path.is_file()
    )
