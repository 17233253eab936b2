"""Join the folds of the cross-fitted systems of a paper.

input: metrics and run.json of every fold, histories of those that are trained, corpora of the folds
output: tables/{paper}/crossfit.{csv,md}, figures/{paper}/crossfit.{png,svg}
"""

from pathlib import Path

from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.crossfit import build_crossfit, crossfit_table, shared_notes
from analogyqa.report.crossfit_figure import draw_crossfit
from analogyqa.report.learning import learnt_of
from analogyqa.report.summary import read_runs, values_of, write_csv
from analogyqa.report.table_formats import to_markdown
from analogyqa.schemas import CORPUS, read_table

with job(snakemake):
    config, papers = reported(snakemake)
    paper, inputs = papers[snakemake.wildcards.paper], snakemake.input
    learnt = learnt_of(inputs.histories)
    values = values_of(read_runs(inputs.records, inputs.metrics))
    frame = build_crossfit(paper.paper, config, values, learnt)
    write_csv(frame, snakemake.output.csv)
    study = config.studies[paper.paper].crossfit
    files = {kind: snakemake.output[kind] for kind in ("png", "svg")}
    draw_crossfit(frame, config, study, files)
    corpora = {Path(path).stem: read_table(path, CORPUS) for path in inputs.corpora}
    shared = shared_notes(corpora, study.subset, config)
    table = crossfit_table(frame, paper, shared, config)
    write_text(snakemake.output.md, to_markdown(table))
