"""Write expected.csv: the scores of a finished demo, with which `analogyqa verify` compares others.

python sample/expect.py results/demo

Where the scores are those that were expected, add this processor to processors.csv; other scores
start that file again.
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
    results, *how = sys.argv[1:]
    found = expected_values(read_csv(Path(results, "summary.csv"), SUMMARY), results)
    seen = pd.DataFrame(columns=[*COLUMNS])
    if PROCESSORS.exists() and found.equals(read_csv(EXPECTED, EXPECTED_COLUMNS)):
        seen = read_csv(PROCESSORS, COLUMNS)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    seen.loc[len(seen)] = [processor(), *(how or ["native"]), today, code_commit()[:8]]
    write_csv(found, EXPECTED)
    write_csv(seen.drop_duplicates(["processor", "how"]), PROCESSORS)
