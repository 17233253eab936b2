"""Draw a forest plot of pairs of cross-validated systems."""

from analogyqa.evaluation.summary import read_csv
from analogyqa.job import job, reported
from analogyqa.report.figures import draw_forest
from analogyqa.report.studies import PAIRS

with job(snakemake):
    config, papers = reported(snakemake)
    frame = read_csv(snakemake.input.pairs, PAIRS)
    files = {kind: snakemake.output[kind] for kind in ("png", "svg")}
    draw_forest(frame, papers[snakemake.wildcards.paper], config, files)
