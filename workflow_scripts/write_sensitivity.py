"""Say what each open choice of the paper changes.

input: metrics and run.json of every variation, papers
output: sensitivity.csv, sensitivity.md, sensitivity.png, sensitivity.svg
"""

from analogyqa.files import write_text
from analogyqa.report.sensitivity import build_sensitivity
from analogyqa.report.sensitivity_figure import draw_sensitivity
from analogyqa.report.sensitivity_page import sensitivity_markdown
from analogyqa.report.summary import read_runs, write_csv
from analogyqa.settings.paper import load_paper
from job import job, reported_config

with job(snakemake):
    config = reported_config(snakemake)
    papers = [load_paper(path) for path in snakemake.input.papers]
    runs = read_runs(snakemake.input.records, snakemake.input.metrics)
    frame = build_sensitivity(papers, config, runs)
    write_csv(frame, snakemake.output.csv)
    write_text(snakemake.output.md, sensitivity_markdown(frame, config))
    files = {kind: snakemake.output[kind] for kind in ("png", "svg")}
    draw_sensitivity(frame, config, files)
