"""Draw one figure of a paper as png and svg, its data as csv.

input: metrics and records of the cells that it shows, paper.yaml
output: figures/{paper}/figure{number}.{png,svg,csv}
"""

from analogyqa.report.figures import build_figure, draw_figure
from analogyqa.report.summary import read_runs, summarise_runs, write_csv
from analogyqa.settings.paper import load_paper
from job import job, reported_config

with job(snakemake):
    config = reported_config(snakemake)
    paper = load_paper(snakemake.input.paper)
    name = f"figure{snakemake.wildcards.number}"
    runs = read_runs(snakemake.input.records, snakemake.input.metrics)
    frame = build_figure(paper, name, summarise_runs(runs, config.bootstrap), config)
    write_csv(frame, snakemake.output.csv)
    files = {"png": snakemake.output.png, "svg": snakemake.output.svg}
    draw_figure(frame, paper, name, config, files)
