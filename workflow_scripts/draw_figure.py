"""Draw a figure of a paper."""

from analogyqa.cells import artefact_cells
from analogyqa.evaluation.summary import read_results, write_csv
from analogyqa.job import job, reported
from analogyqa.report.figures import build_figure, draw_figure
from analogyqa.report.views.show import build_view, draw_view

with job(snakemake):
    (config, papers), inputs = reported(snakemake), snakemake.input
    paper = papers[snakemake.wildcards.paper]
    name = snakemake.wildcards.artefact
    files = {"png": snakemake.output.png, "svg": snakemake.output.svg}
    if name in paper.views:
        content = build_view(paper, name, inputs.get("tables", []), config)
        write_csv(content.frame, snakemake.output.csv)
        draw_view(content, paper, name, config, files)
    else:
        cells = artefact_cells(config, paper, name)
        results = read_results(config, cells, inputs.records, inputs.metrics, inputs.histories)
        frame = build_figure(paper, name, results, config)
        write_csv(frame, snakemake.output.csv)
        draw_figure(frame, paper, name, config, files)
