"""Report what each open choice of the paper changes."""

from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.learning import learnt_of
from analogyqa.report.sensitivity import build_sensitivity
from analogyqa.report.sensitivity_figure import draw_sensitivity
from analogyqa.report.sensitivity_page import sensitivity_table
from analogyqa.report.summary import read_runs, write_csv
from analogyqa.report.table_formats import to_markdown

with job(snakemake):
    config, papers = reported(snakemake)
    paper = snakemake.wildcards.paper
    study = config.studies[paper].sensitivity
    runs = read_runs(snakemake.input.records, snakemake.input.metrics)
    learnt = learnt_of(snakemake.input.histories)
    frame = build_sensitivity(papers[paper], config, runs, learnt)
    write_csv(frame, snakemake.output.csv)
    write_text(snakemake.output.md, to_markdown(sensitivity_table(frame, config, study)))
    files = {kind: snakemake.output[kind] for kind in ("png", "svg")}
    draw_sensitivity(frame, config, study, files)
