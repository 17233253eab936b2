"""Join the folds of the cross-validated systems of a paper."""

from pathlib import Path

from analogyqa.evaluation.summary import index_values, read_learned, read_runs, write_csv
from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.figures import draw_cross_validation
from analogyqa.report.studies import (
    build_cross_validation,
    build_folds,
    cross_validation_table,
    shared_notes,
)
from analogyqa.report.table_formats import to_markdown
from analogyqa.schemas import CORPUS, read_table

with job(snakemake):
    config, papers = reported(snakemake)
    paper, inputs = papers[snakemake.wildcards.paper], snakemake.input
    study = config.studies[paper.paper].cross_validation
    assert study  # only a paper with this section has the table
    learned = read_learned(inputs.histories)
    values = index_values(read_runs(inputs.records, inputs.metrics))
    frame = build_cross_validation(paper.paper, study, config, values, learned)
    write_csv(frame, snakemake.output.csv)
    write_csv(build_folds(paper.paper, study, config, values), snakemake.output.folds)
    files = {kind: snakemake.output[kind] for kind in ("png", "svg")}
    draw_cross_validation(frame, config, study, files)
    corpora = {Path(path).stem: read_table(path, CORPUS) for path in inputs.corpora}
    shared = shared_notes(corpora, study.subset, config)
    table = cross_validation_table(frame, paper, study, shared, config)
    write_text(snakemake.output.md, to_markdown(table))
