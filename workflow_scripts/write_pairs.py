"""Compare pairs of cross-validated systems, also in groups of questions."""

from pathlib import Path

from analogyqa.evaluation.summary import index_values, read_runs, write_csv
from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.figures import draw_pairs
from analogyqa.report.studies import (
    build_pairs,
    pairs_table,
    question_groups,
    questions_page,
)
from analogyqa.report.table_formats import to_markdown
from analogyqa.schemas import CORPUS, ENTITIES, read_table

with job(snakemake):
    config, papers = reported(snakemake)
    paper, inputs = papers[snakemake.wildcards.paper], snakemake.input
    corpora = {Path(path).stem: read_table(path, CORPUS) for path in inputs.corpora}
    entities = {Path(path).stem: read_table(path, ENTITIES) for path in inputs.entities}
    study = config.studies[paper.paper].cross_validation
    assert study  # only a paper with this section has the table
    values = index_values(read_runs(inputs.records, inputs.metrics))
    frame = build_pairs(paper.paper, study, config, values, question_groups(corpora, entities))
    write_csv(frame, snakemake.output.csv)
    write_text(snakemake.output.md, to_markdown(pairs_table(frame, paper, config)))
    draw_pairs(frame, config, {kind: snakemake.output[kind] for kind in ("png", "svg")})
    page = questions_page(paper.paper, study, config, values, corpora)
    write_text(snakemake.output.questions, page)
