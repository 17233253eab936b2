"""What scores say: summaries with their spread, tests, verdicts, and claims.

The functions here are for scores of any systems, from tables or TREC files.
"""

from analogyqa.evaluation.systems import compare_systems, rank_systems, read_scores
from analogyqa.evaluation.trec import export_runs, find_runs, measure_runs

__all__ = [
    "compare_systems",
    "export_runs",
    "find_runs",
    "measure_runs",
    "rank_systems",
    "read_scores",
]
