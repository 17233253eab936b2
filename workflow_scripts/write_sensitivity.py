"""Say what each open choice of the paper changes.

input: metrics and run.json of every variation, papers
output: sensitivity.csv, sensitivity.md, sensitivity.png, sensitivity.svg
"""

from analogyqa.checkpoints import write_text
from analogyqa.config import load_config
from analogyqa.ledger import load_paper, read_runs, write_csv
from analogyqa.sensitivity import build_sensitivity, draw_sensitivity, sensitivity_markdown
from job import job

with job(snakemake):
    config = load_config(snakemake.params.config)
    papers = [load_paper(path) for path in snakemake.input.papers]
    runs = read_runs(snakemake.input.records, snakemake.input.metrics)
    frame = build_sensitivity(papers, config, runs)
    write_csv(frame, snakemake.output.csv)
    write_text(snakemake.output.md, sensitivity_markdown(frame, config))
    files = {kind: snakemake.output[kind] for kind in ("png", "svg")}
    draw_sensitivity(frame, config, files)
