"""Write expected.csv: the scores of a finished demo, with which `analogyqa verify` compares others.

python sample/expect.py results/demo
python sample/expect.py results/demo Haswell "two cells, emulated by QEMU"

Where the scores are those that were expected, add this processor, or the one that is named with how
it was tested, to processors.csv. Other scores start that file again.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from analogyqa.arithmetic import processor
from analogyqa.evaluation.summary import SUMMARY, read_csv, write_csv
from analogyqa.report.verify import EXPECTED, EXPECTED_COLUMNS, expected_values
from analogyqa.runs.record import code_commit

PROCESSORS = EXPECTED.with_name("processors.csv")
COLUMNS = dict.fromkeys(["processor", "how", "date", "commit"], "str")

if __name__ == "__main__":
    results, *seen = sys.argv[1:]
    found = expected_values(read_csv(Path(results, "summary.csv"), SUMMARY), results)
    rows = pd.DataFrame(columns=[*COLUMNS])
    if PROCESSORS.exists() and found.equals(read_csv(EXPECTED, EXPECTED_COLUMNS)):
        rows = read_csv(PROCESSORS, COLUMNS)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    rows.loc[len(rows)] = [*(seen or [processor(), "native"]), today, code_commit()[:8]]
    write_csv(found, EXPECTED)
    write_csv(rows.drop_duplicates(["processor", "how"]), PROCESSORS)
