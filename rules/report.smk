"""What a reader opens: the ledger, the claims, the tables and the figures.

needs: metrics and run.json of the cells that each shows, or inside.parquet, corpora; papers/{paper}/paper.yaml, as values
makes: summary.csv, ledger.{csv,md,html}, claims.{csv,md}, comparisons.csv,
       tables/{paper}/table{number}.{csv,md,tex}, figures/{paper}/figure{number}.{png,svg,csv},
       tables/{paper}/crossfit.{csv,md}, figures/{paper}/crossfit.{png,svg},
       tables/{paper}/pairs.{csv,md}, figures/{paper}/pairs.{png,svg}, questions/{paper}.md,
       tables/{paper}/sensitivity.{csv,md}, figures/{paper}/sensitivity.{png,svg}, report.html
"""


rule write_ledger:
    """Summarise every run and hold the published values against it."""
    input:
        **ledger_inputs(),
    output:
        summary=f"{RESULTS}/summary.csv",
        ledger=report(
            f"{RESULTS}/ledger.csv",
            caption="../report/ledger.rst",
            category="Ledger",
            labels={"format": "csv"},
        ),
        md=f"{RESULTS}/ledger.md",
        html=report(
            f"{RESULTS}/ledger.html",
            caption="../report/ledger.rst",
            category="Ledger",
            labels={"format": "html"},
        ),
    log:
        f"{RESULTS}/logs/write_ledger.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=code_of("write_ledger"),
        config=REPORTED,
        left_out=CONFIG.left_out,
        seeds=CONFIG.all_seeds,
    script:
        "../workflow_scripts/write_ledger.py"


rule judge_claims:
    """Judge every claim of the papers by paired tests over questions and seeds."""
    input:
        metrics=metrics_of(claimed_cells()),
        records=records_of(claimed_cells()),
        histories=histories_of(claimed_cells()),
        insides=claimed_insides(),
        costs=claimed_costs(),
    output:
        claims=report(
            f"{RESULTS}/claims.csv",
            caption="../report/claims.rst",
            category="Claims",
            labels={"table": "claims"},
        ),
        comparisons=report(
            f"{RESULTS}/comparisons.csv",
            caption="../report/claims.rst",
            category="Claims",
            labels={"table": "comparisons"},
        ),
        md=f"{RESULTS}/claims.md",
    log:
        f"{RESULTS}/logs/judge_claims.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=code_of("judge_claims"),
        config=REPORTED,
        left_out=CONFIG.left_out,
        seeds=CONFIG.all_seeds,
    script:
        "../workflow_scripts/judge_claims.py"


rule render_table:
    """Render a table of a paper, our numbers beside the published."""
    input:
        unpack(lambda wildcards: artefact_inputs(wildcards.paper, f"table{wildcards.number}")),
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
        code=lambda wildcards: code_of(
            "render_table", *view_modules(wildcards.paper, f"table{wildcards.number}")
        ),
        config=REPORTED,
        left_out=CONFIG.left_out,
        seeds=CONFIG.all_seeds,
    script:
        "../workflow_scripts/render_table.py"


rule draw_figure:
    """Draw a figure of a paper with the published values, its data beside it."""
    input:
        unpack(lambda wildcards: artefact_inputs(wildcards.paper, f"figure{wildcards.number}")),
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
        code=lambda wildcards: code_of(
            "draw_figure", *view_modules(wildcards.paper, f"figure{wildcards.number}")
        ),
        config=REPORTED,
        left_out=CONFIG.left_out,
        seeds=CONFIG.all_seeds,
    script:
        "../workflow_scripts/draw_figure.py"


rule write_crossfit:
    """Join the folds of the cross-fitted systems."""
    input:
        metrics=lambda wildcards: metrics_of(CROSSFIT_CELLS[wildcards.paper]),
        records=lambda wildcards: records_of(CROSSFIT_CELLS[wildcards.paper]),
        histories=lambda wildcards: histories_of(CROSSFIT_CELLS[wildcards.paper]),
        corpora=folds_of_paper,
    output:
        csv=report(
            f"{RESULTS}/tables/{{paper}}/crossfit.csv",
            caption="../report/crossfit.rst",
            category="Cross-fitting",
            subcategory="{paper}",
            labels={"format": "csv"},
        ),
        md=f"{RESULTS}/tables/{{paper}}/crossfit.md",
        png=report(
            f"{RESULTS}/figures/{{paper}}/crossfit.png",
            caption="../report/crossfit.rst",
            category="Cross-fitting",
            subcategory="{paper}",
            labels={"format": "png"},
        ),
        svg=f"{RESULTS}/figures/{{paper}}/crossfit.svg",
    log:
        f"{RESULTS}/logs/write_crossfit/{{paper}}.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=code_of("write_crossfit"),
        config=REPORTED,
        left_out=CONFIG.left_out,
        seeds=CONFIG.all_seeds,
    script:
        "../workflow_scripts/write_crossfit.py"


rule write_pairs:
    """Hold pairs of cross-fitted systems against each other, by type of question and of answer."""
    input:
        metrics=lambda wildcards: metrics_of(CROSSFIT_CELLS[wildcards.paper]),
        records=lambda wildcards: records_of(CROSSFIT_CELLS[wildcards.paper]),
        corpora=lambda wildcards: crossfitted("corpora", wildcards),
        entities=lambda wildcards: crossfitted("entities", wildcards) if AVAILABLE.entities else [],
    output:
        csv=f"{RESULTS}/tables/{{paper}}/pairs.csv",
        md=f"{RESULTS}/tables/{{paper}}/pairs.md",
        png=f"{RESULTS}/figures/{{paper}}/pairs.png",
        svg=f"{RESULTS}/figures/{{paper}}/pairs.svg",
        # Not beside the tables, which are published: it has sentences of the data.
        questions=f"{RESULTS}/questions/{{paper}}.md",
    log:
        f"{RESULTS}/logs/write_pairs/{{paper}}.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=code_of("write_pairs"),
        config=REPORTED,
        left_out=CONFIG.left_out,
        seeds=CONFIG.all_seeds,
    script:
        "../workflow_scripts/write_pairs.py"


rule write_sensitivity:
    """Vary each open choice of the paper alone and say what that changes."""
    input:
        metrics=lambda wildcards: metrics_of(SENSITIVITY_CELLS[wildcards.paper]),
        records=lambda wildcards: records_of(SENSITIVITY_CELLS[wildcards.paper]),
        histories=lambda wildcards: histories_of(SENSITIVITY_CELLS[wildcards.paper]),
    output:
        csv=report(
            f"{RESULTS}/tables/{{paper}}/sensitivity.csv",
            caption="../report/sensitivity.rst",
            category="Sensitivity",
            subcategory="{paper}",
            labels={"format": "csv"},
        ),
        md=f"{RESULTS}/tables/{{paper}}/sensitivity.md",
        png=report(
            f"{RESULTS}/figures/{{paper}}/sensitivity.png",
            caption="../report/sensitivity.rst",
            category="Sensitivity",
            subcategory="{paper}",
            labels={"format": "png"},
        ),
        svg=f"{RESULTS}/figures/{{paper}}/sensitivity.svg",
    log:
        f"{RESULTS}/logs/write_sensitivity/{{paper}}.log",
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=code_of("write_sensitivity"),
        config=REPORTED,
        left_out=CONFIG.left_out,
        seeds=CONFIG.all_seeds,
    script:
        "../workflow_scripts/write_sensitivity.py"


rule write_report:
    """Put all that the run came to onto one page."""
    input:
        tables_and_figures(),
        crossfit_files(),
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
        code=code_of("write_report"),
        command=" ".join(["snakemake --cores all --configfile", *map(from_here, FILES or [OWN])]),
        config=REPORTED,
        left_out=CONFIG.left_out,
        seeds=CONFIG.all_seeds,
    script:
        "../workflow_scripts/write_report.py"
