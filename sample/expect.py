"""Write expected.csv: the means of a finished demo, with which `analogyqa verify` compares others.

python sample/expect.py results/demo
"""

import sys
from pathlib import Path

from analogyqa.evaluation.summary import SUMMARY, read_csv, write_csv
from analogyqa.report.verify import EXPECTED, expected_values

MEASURES = ("map", "mrr")

if __name__ == "__main__":
    summary = read_csv(Path(sys.argv[1], "summary.csv"), SUMMARY)
    write_csv(expected_values(summary, MEASURES), EXPECTED)
