"""Report how results change with each open choice of a paper."""

from analogyqa.cells import sensitivity_cells
from analogyqa.evaluation.summary import read_results, write_csv
from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.figures import draw_sensitivity
from analogyqa.report.sensitivity import build_sensitivity, sensitivity_table
from analogyqa.report.table_formats import to_markdown

with job(snakemake):
    config, papers = reported(snakemake)
    paper, inputs = papers[snakemake.wildcards.paper], snakemake.input
    study = config.studies[paper.paper].sensitivity
    assert study  # only a paper with this section has the table
    cells = sensitivity_cells(config, paper.paper).values()
    results = read_results(config, cells, inputs.records, inputs.metrics, inputs.histories)
    frame = build_sensitivity(paper, study, config, results)
    write_csv(frame, snakemake.output.csv)
    write_text(snakemake.output.md, to_markdown(sensitivity_table(frame, config, study)))
    files = {kind: snakemake.output[kind] for kind in ("png", "svg")}
    draw_sensitivity(frame, config, study, files)
