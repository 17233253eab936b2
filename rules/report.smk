"""What a reader opens: ledger, claims, tables and figures; and MLflow, a view of the run records."""

from analogyqa.settings.coordinates import SCORE

PAPERS = PLAN.papers.values()
# Keys that no number or caption depends on, such as where files are and which machine is used.
NOT_REPORTED = {"resources_dir", "mirrors", "tracking_uri", "device", "papers"}
REPORTED = {
    "configuration": content_hash(
        [
            CONFIG.model_dump(mode="json", exclude=NOT_REPORTED),
            {name: paper.model_dump(mode="json") for name, paper in PLAN.papers.items()},
        ]
    ),
    "left_out": CONFIG.left_out,
}
FORMATS = {"table": ("csv", "md", "tex"), "figure": ("png", "svg", "csv")}
ARTEFACTS = [
    f"{RESULTS}/{kind}s/{name}/{artefact}.{ending}"
    for name, paper in PLAN.papers.items()
    for artefact in paper.tables_and_figures
    for kind, endings in FORMATS.items()
    if artefact.startswith(kind)
    for ending in endings
]
CROSS_VALIDATION = [
    f"{RESULTS}/tables/{name}/{table}.csv"
    for table in ("cross_validation", "pairs")
    for name in PLAN.cross_validation
    if table == "cross_validation" or CONFIG.studies[name].cross_validation.pairs
]
CROSS_VALIDATION += [
    f"{RESULTS}/figures/{name}/forest.svg"
    for name, paper in PLAN.papers.items()
    if name in PLAN.cross_validation and paper.primary_pairs(CONFIG)
]


CLAIMED = distinct(cells.claim_cells(CONFIG, paper) for paper in PAPERS)


rule write_ledger:
    """Summarise every run and compare the published values with it."""
    input:
        metrics=runs(PLAN.cells, "metrics.parquet"),
        records=runs(PLAN.cells, "run.json"),
        histories=histories(PLAN.cells),
        corpora=counted_corpora(chain(*(paper.artefacts.values() for paper in PAPERS))),
        costs=cost_files(PLAN.costs),
    output:
        summary=f"{RESULTS}/summary.csv",
        ledger=f"{RESULTS}/ledger.csv",
        coverage=f"{RESULTS}/coverage.csv",
        md=f"{RESULTS}/ledger.md",
        # A picture of the verdicts on each paper whose scores are compared.
        verdicts=[
            f"{RESULTS}/figures/{name}/verdicts.svg"
            for name, paper in PLAN.papers.items()
            if any(
                number.kind == SCORE
                and number.published is not None
                and CONFIG.is_comparable(number.coordinates.dataset)
                for artefact in paper.artefacts.values()
                for number in artefact.numbers()
            )
        ],
    localrule: True
    params:
        settings=REPORTED,
    script:
        "../workflow_scripts/write_ledger.py"


rule judge_claims:
    """Judge every claim of the papers by paired tests over questions and seeds."""
    input:
        metrics=runs(CLAIMED, "metrics.parquet"),
        records=runs(CLAIMED, "run.json"),
        histories=histories(CLAIMED),
        insides=runs(
            distinct(cells.norm_cells(CONFIG, paper) for paper in PAPERS), "inside.parquet"
        ),
        costs=cost_files(
            cells.systems_with_costs(
                cells.claim_sides(chain(*(paper.claims.values() for paper in PAPERS))), CONFIG
            )
        ),
    output:
        claims=f"{RESULTS}/claims.csv",
        comparisons=f"{RESULTS}/comparisons.csv",
        md=f"{RESULTS}/claims.md",
    localrule: True
    params:
        settings=REPORTED,
    script:
        "../workflow_scripts/judge_claims.py"


rule render_table:
    """Render a table of a paper, with our numbers and the published ones."""
    input:
        unpack(shown_files),
    output:
        csv=f"{RESULTS}/tables/{{paper}}/{{artefact}}.csv",
        md=f"{RESULTS}/tables/{{paper}}/{{artefact}}.md",
        tex=f"{RESULTS}/tables/{{paper}}/{{artefact}}.tex",
    localrule: True
    params:
        settings=REPORTED,
        code=lambda wildcards: artefact_code(wildcards, "render_table"),
    script:
        "../workflow_scripts/render_table.py"


rule draw_figure:
    """Draw a figure of a paper with the published values, and write its data."""
    input:
        unpack(shown_files),
    output:
        png=f"{RESULTS}/figures/{{paper}}/{{artefact}}.png",
        svg=f"{RESULTS}/figures/{{paper}}/{{artefact}}.svg",
        csv=f"{RESULTS}/figures/{{paper}}/{{artefact}}.csv",
    localrule: True
    params:
        settings=REPORTED,
        code=lambda wildcards: artefact_code(wildcards, "draw_figure"),
    script:
        "../workflow_scripts/draw_figure.py"


rule write_cross_validation:
    """Join the folds of the cross-validated systems."""
    input:
        metrics=lambda wildcards: runs(PLAN.cross_validation[wildcards.paper], "metrics.parquet"),
        records=lambda wildcards: runs(PLAN.cross_validation[wildcards.paper], "run.json"),
        histories=lambda wildcards: histories(PLAN.cross_validation[wildcards.paper]),
        # Of the data sets, and of their folds.
        corpora=lambda wildcards: [
            f"{RESULTS}/corpora/{name}.parquet"
            for name in (
                *cross_validated_datasets(wildcards),
                *distinct(
                    cell.corpora(known_settings(cell)).values()
                    for cell in PLAN.cross_validation[wildcards.paper]
                ),
            )
        ],
    output:
        csv=f"{RESULTS}/tables/{{paper}}/cross_validation.csv",
        folds=f"{RESULTS}/tables/{{paper}}/cross_validation_folds.csv",
        md=f"{RESULTS}/tables/{{paper}}/cross_validation.md",
        png=f"{RESULTS}/figures/{{paper}}/cross_validation.png",
        svg=f"{RESULTS}/figures/{{paper}}/cross_validation.svg",
    localrule: True
    params:
        settings=REPORTED,
    script:
        "../workflow_scripts/write_cross_validation.py"


rule write_pairs:
    """Compare pairs of cross-validated systems, also in groups of questions."""
    input:
        metrics=lambda wildcards: runs(PLAN.cross_validation[wildcards.paper], "metrics.parquet"),
        records=lambda wildcards: runs(PLAN.cross_validation[wildcards.paper], "run.json"),
        corpora=lambda wildcards: [
            f"{RESULTS}/corpora/{name}.parquet" for name in cross_validated_datasets(wildcards)
        ],
        entities=lambda wildcards: [
            f"{RESULTS}/entities/{name}.parquet"
            for name in cross_validated_datasets(wildcards)
            if AVAILABLE.entities
        ],
    output:
        csv=f"{RESULTS}/tables/{{paper}}/pairs.csv",
        md=f"{RESULTS}/tables/{{paper}}/pairs.md",
        png=f"{RESULTS}/figures/{{paper}}/pairs.png",
        svg=f"{RESULTS}/figures/{{paper}}/pairs.svg",
        # Kept apart from the published tables because it quotes the data.
        questions=f"{RESULTS}/questions/{{paper}}.md",
    localrule: True
    params:
        settings=REPORTED,
    script:
        "../workflow_scripts/write_pairs.py"


rule draw_forest:
    """Draw the primary pairs on every data set, and pooled, as a forest plot."""
    input:
        pairs=f"{RESULTS}/tables/{{paper}}/pairs.csv",
    output:
        png=f"{RESULTS}/figures/{{paper}}/forest.png",
        svg=f"{RESULTS}/figures/{{paper}}/forest.svg",
    localrule: True
    params:
        settings=REPORTED,
    script:
        "../workflow_scripts/draw_forest.py"


rule write_sensitivity:
    """Report what each open choice of the paper changes."""
    input:
        metrics=lambda wildcards: runs(PLAN.sensitivity[wildcards.paper], "metrics.parquet"),
        records=lambda wildcards: runs(PLAN.sensitivity[wildcards.paper], "run.json"),
        histories=lambda wildcards: histories(PLAN.sensitivity[wildcards.paper]),
    output:
        csv=f"{RESULTS}/tables/{{paper}}/sensitivity.csv",
        md=f"{RESULTS}/tables/{{paper}}/sensitivity.md",
        png=f"{RESULTS}/figures/{{paper}}/sensitivity.png",
        svg=f"{RESULTS}/figures/{{paper}}/sensitivity.svg",
    localrule: True
    params:
        settings=REPORTED,
    script:
        "../workflow_scripts/write_sensitivity.py"


rule write_report:
    """Write the page with all results of the run."""
    input:
        ARTEFACTS,
        CROSS_VALIDATION,
        runs(distinct(cells.explained_cells(CONFIG, paper) for paper in PAPERS), "examples.json"),
        ledger=f"{RESULTS}/ledger.csv",
        claims=f"{RESULTS}/claims.csv",
    output:
        f"{RESULTS}/report.html",
    localrule: True
    params:
        settings=REPORTED,
        command=COMMAND,
    script:
        "../workflow_scripts/write_report.py"


rule import_to_mlflow:
    """Import every run record, table and figure into the tracking store, once."""
    input:
        metrics=runs(PLAN.cells, "metrics.parquet"),
        records=runs(PLAN.cells, "run.json"),
        reports=rules.write_ledger.output + rules.judge_claims.output,
        tables_and_figures=ARTEFACTS + CROSS_VALIDATION,
    output:
        f"{RESULTS}/mlflow.imported.json",
    localrule: True
    params:
        settings=REPORTED,
        tracking_uri=CONFIG.store_uri,
    script:
        "../workflow_scripts/import_to_mlflow.py"
