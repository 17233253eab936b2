rule import_to_mlflow:
    input:
        records=records_of(CONFIG.cells()),
        metrics=metrics_of(CONFIG.cells()),
        ledger=f"{RESULTS}/ledger.csv",
        summary=f"{RESULTS}/summary.csv",
        tables_and_figures=tables_and_figures(),
    output:
        f"{RESULTS}/mlflow.imported.json",
    log:
        f"{RESULTS}/logs/import_to_mlflow.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        tracking_uri=tracking_uri_of(CONFIG),
        results=RESULTS,
    script:
        "../workflow_scripts/import_to_mlflow.py"
