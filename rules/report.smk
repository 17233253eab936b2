"""What a reader opens: the ledger, the tables and the figures.

needs: metrics and run.json of every cell, corpora, papers/{paper}.yaml
makes: summary.csv, ledger.csv, tables/{paper}/table{number}.{csv,md,tex},
       figures/{paper}/figure{number}.{png,svg,csv}
"""

# What the numbers and captions depend on. Where files lie and what machine there is do not count.
REPORTED_CONFIG = CONFIG.model_dump(
    mode="json",
    exclude_unset=True,
    exclude={"resources_dir", "mirrors", "tracking_uri", "device"},
)


rule write_ledger:
    """Summarise every run and hold the published values against it."""
    input:
        metrics=metrics_of(CONFIG.cells()),
        records=records_of(CONFIG.cells()),
        corpora=CORPORA,
        papers=expand("{folder}/papers/{paper}.yaml", folder=workflow.basedir, paper=PAPERS),
    output:
        summary=f"{RESULTS}/summary.csv",
        ledger=report(
            f"{RESULTS}/ledger.csv",
            caption="../report/ledger.rst",
            category="Ledger",
        ),
    log:
        f"{RESULTS}/logs/write_ledger.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        config=REPORTED_CONFIG,
    script:
        "../workflow_scripts/write_ledger.py"


rule render_table:
    """Render a table of a paper, our numbers beside the published."""
    input:
        summary=f"{RESULTS}/summary.csv",
        ledger=f"{RESULTS}/ledger.csv",
        paper=f"{workflow.basedir}/papers/{{paper}}.yaml",
    output:
        csv=report(
            f"{RESULTS}/tables/{{paper}}/table{{number}}.csv",
            caption="../report/table.rst",
            category="Tables",
            subcategory="{paper}",
            labels={"table": "{number}", "format": "csv"},
        ),
        md=report(
            f"{RESULTS}/tables/{{paper}}/table{{number}}.md",
            caption="../report/table.rst",
            category="Tables",
            subcategory="{paper}",
            labels={"table": "{number}", "format": "md"},
        ),
        tex=report(
            f"{RESULTS}/tables/{{paper}}/table{{number}}.tex",
            caption="../report/table.rst",
            category="Tables",
            subcategory="{paper}",
            labels={"table": "{number}", "format": "tex"},
        ),
    log:
        f"{RESULTS}/logs/render_table/{{paper}}-table{{number}}.log",
    wildcard_constraints:
        number=r"\d+",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        config=REPORTED_CONFIG,
    script:
        "../workflow_scripts/render_table.py"


rule draw_figure:
    """Draw a figure of a paper with the published values, its data beside it."""
    input:
        summary=f"{RESULTS}/summary.csv",
        paper=f"{workflow.basedir}/papers/{{paper}}.yaml",
    output:
        png=report(
            f"{RESULTS}/figures/{{paper}}/figure{{number}}.png",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{paper}",
            labels={"figure": "{number}", "format": "png"},
        ),
        svg=report(
            f"{RESULTS}/figures/{{paper}}/figure{{number}}.svg",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{paper}",
            labels={"figure": "{number}", "format": "svg"},
        ),
        csv=report(
            f"{RESULTS}/figures/{{paper}}/figure{{number}}.csv",
            caption="../report/figure.rst",
            category="Figures",
            subcategory="{paper}",
            labels={"figure": "{number}", "format": "csv"},
        ),
    log:
        f"{RESULTS}/logs/draw_figure/{{paper}}-figure{{number}}.log",
    wildcard_constraints:
        number=r"\d+",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        config=REPORTED_CONFIG,
    script:
        "../workflow_scripts/draw_figure.py"
