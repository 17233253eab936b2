"""MLflow: a view of the run records.

needs: run.json and metrics of every cell, the ledger, claims, tables and figures
makes: mlflow.imported.json, and the runs in the tracking store, which is no output
"""


rule import_to_mlflow:
    """Import every run record, table and figure into the tracking store, once."""
    input:
        records=records_of(CELLS),
        metrics=metrics_of(CELLS),
        reports=rules.write_ledger.output + rules.judge_claims.output,
        tables_and_figures=tables_and_figures(),
    output:
        f"{RESULTS}/mlflow.imported.json",
    log:
        f"{RESULTS}/logs/import_to_mlflow.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=code_of("import_to_mlflow"),
        config=REPORTED,
        left_out=CONFIG.left_out,
        seeds=CONFIG.all_seeds,
        tracking_uri=tracking_uri_of(CONFIG),
    script:
        "../workflow_scripts/import_to_mlflow.py"
