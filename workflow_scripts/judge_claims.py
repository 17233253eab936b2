"""Judge the claims of the papers."""

from analogyqa.cells import cells_by_run, claim_cells
from analogyqa.evaluation.claims import judge_claims, with_norms_and_costs
from analogyqa.evaluation.summary import index_values, read_learned, read_runs, write_csv
from analogyqa.files import write_text
from analogyqa.job import job, reported
from analogyqa.report.ledger_pages import claims_table
from analogyqa.report.table_formats import to_markdown
from analogyqa.runs.cost import read_costs

with job(snakemake):
    config, by_name = reported(snakemake)
    papers = list(by_name.values())
    cells = [cell for paper in papers for cell in claim_cells(config, paper)]
    parts = cells_by_run(config, cells)
    scores = index_values(read_runs(snakemake.input.records, snakemake.input.metrics, parts))
    costs = read_costs(snakemake.input.costs)
    values = with_norms_and_costs(scores, snakemake.input.insides, costs)
    learned = read_learned(snakemake.input.histories)
    claims, comparisons = judge_claims(papers, config, values, learned)
    write_csv(claims, snakemake.output.claims)
    write_csv(comparisons, snakemake.output.comparisons)
    write_text(snakemake.output.md, to_markdown(claims_table(claims, papers, config)))
