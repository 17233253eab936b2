"""What a reader opens: the ledger, the claims, the tables and the figures; and MLflow, a view of the run records.

needs: metrics and run.json of the cells that each shows, or inside.parquet, decisions.parquet or examples.json, corpora; papers/{paper}/paper.yaml, as values
makes: summary.csv, ledger.{csv,md}, figures/{paper}/verdicts.svg, claims.{csv,md}, comparisons.csv,
       tables/{paper}/table{number}.{csv,md,tex}, figures/{paper}/figure{number}.{png,svg,csv},
       tables/{paper}/cross_validation.{csv,md}, figures/{paper}/cross_validation.{png,svg},
       tables/{paper}/pairs.{csv,md}, figures/{paper}/pairs.{png,svg}, questions/{paper}.md,
       tables/{paper}/sensitivity.{csv,md}, figures/{paper}/sensitivity.{png,svg}, report.html,
       mlflow.imported.json, and the runs in the tracking store, which is no output
"""


rule write_ledger:
    """Summarise every run and compare the published values with it."""
    input:
        **OUTPUTS.write_ledger(),
    output:
        summary=f"{RESULTS}/summary.csv",
        ledger=f"{RESULTS}/ledger.csv",
        md=f"{RESULTS}/ledger.md",
        verdicts=OUTPUTS.verdict_figures(),
    log:
        f"{RESULTS}/logs/write_ledger.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.report("write_ledger"),
    script:
        "../workflow_scripts/write_ledger.py"


rule judge_claims:
    """Judge every claim of the papers by paired tests over questions and seeds."""
    input:
        **OUTPUTS.judge_claims(),
    output:
        claims=f"{RESULTS}/claims.csv",
        comparisons=f"{RESULTS}/comparisons.csv",
        md=f"{RESULTS}/claims.md",
    log:
        f"{RESULTS}/logs/judge_claims.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.report("judge_claims"),
    script:
        "../workflow_scripts/judge_claims.py"


rule render_table:
    """Render a table of a paper, with our numbers and the published ones."""
    input:
        unpack(OUTPUTS.render_table),
    output:
        csv=f"{RESULTS}/tables/{{paper}}/table{{number}}.csv",
        md=f"{RESULTS}/tables/{{paper}}/table{{number}}.md",
        tex=f"{RESULTS}/tables/{{paper}}/table{{number}}.tex",
    log:
        f"{RESULTS}/logs/render_table/{{paper}}-table{{number}}.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.render_table,
    script:
        "../workflow_scripts/render_table.py"


rule draw_figure:
    """Draw a figure of a paper with the published values, and write its data."""
    input:
        unpack(OUTPUTS.draw_figure),
    output:
        png=f"{RESULTS}/figures/{{paper}}/figure{{number}}.png",
        svg=f"{RESULTS}/figures/{{paper}}/figure{{number}}.svg",
        csv=f"{RESULTS}/figures/{{paper}}/figure{{number}}.csv",
    log:
        f"{RESULTS}/logs/draw_figure/{{paper}}-figure{{number}}.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.draw_figure,
    script:
        "../workflow_scripts/draw_figure.py"


rule write_cross_validation:
    """Join the folds of the cross-validated systems."""
    input:
        unpack(OUTPUTS.write_cross_validation),
    output:
        csv=f"{RESULTS}/tables/{{paper}}/cross_validation.csv",
        md=f"{RESULTS}/tables/{{paper}}/cross_validation.md",
        png=f"{RESULTS}/figures/{{paper}}/cross_validation.png",
        svg=f"{RESULTS}/figures/{{paper}}/cross_validation.svg",
    log:
        f"{RESULTS}/logs/write_cross_validation/{{paper}}.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.report("write_cross_validation"),
    script:
        "../workflow_scripts/write_cross_validation.py"


rule write_pairs:
    """Compare pairs of cross-validated systems, by type of question and of answer."""
    input:
        unpack(OUTPUTS.write_pairs),
    output:
        csv=f"{RESULTS}/tables/{{paper}}/pairs.csv",
        md=f"{RESULTS}/tables/{{paper}}/pairs.md",
        png=f"{RESULTS}/figures/{{paper}}/pairs.png",
        svg=f"{RESULTS}/figures/{{paper}}/pairs.svg",
        # Kept apart from the published tables because it quotes the data.
        questions=f"{RESULTS}/questions/{{paper}}.md",
    log:
        f"{RESULTS}/logs/write_pairs/{{paper}}.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.report("write_pairs"),
    script:
        "../workflow_scripts/write_pairs.py"


rule write_sensitivity:
    """Report what each open choice of the paper changes."""
    input:
        unpack(OUTPUTS.write_sensitivity),
    output:
        csv=f"{RESULTS}/tables/{{paper}}/sensitivity.csv",
        md=f"{RESULTS}/tables/{{paper}}/sensitivity.md",
        png=f"{RESULTS}/figures/{{paper}}/sensitivity.png",
        svg=f"{RESULTS}/figures/{{paper}}/sensitivity.svg",
    log:
        f"{RESULTS}/logs/write_sensitivity/{{paper}}.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.report("write_sensitivity"),
    script:
        "../workflow_scripts/write_sensitivity.py"


rule write_report:
    """Write the page with all results of the run."""
    input:
        OUTPUTS.tables_and_figures(),
        OUTPUTS.cross_validation(),
        OUTPUTS.examples(),
        ledger=f"{RESULTS}/ledger.csv",
        claims=f"{RESULTS}/claims.csv",
    output:
        f"{RESULTS}/report.html",
    log:
        f"{RESULTS}/logs/write_report.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.write_report(),
    script:
        "../workflow_scripts/write_report.py"


rule import_to_mlflow:
    """Import every run record, table and figure into the tracking store, once."""
    input:
        **OUTPUTS.import_to_mlflow(),
        reports=rules.write_ledger.output + rules.judge_claims.output,
        tables_and_figures=OUTPUTS.tables_and_figures() + OUTPUTS.cross_validation(),
    output:
        f"{RESULTS}/mlflow.imported.json",
    log:
        f"{RESULTS}/logs/import_to_mlflow.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.import_to_mlflow(),
    script:
        "../workflow_scripts/import_to_mlflow.py"
