"""The prototypes, and the analogy quadruples made of them.

needs: corpora/{dataset}.parquet
makes: prototypes/{dataset}/{subset}/seed{seed}.parquet,
       quadruples/{dataset}/{subset}/p{p}/seed{seed}/{train-...,dev,test}.parquet
"""


rule choose_prototypes:
    """Choose a prototype from every training question, in an order seeded by each seed."""
    input:
        f"{RESULTS}/corpora/{{dataset}}.parquet",
    output:
        prototype_files("{dataset}", "{subset}"),
    log:
        f"{RESULTS}/logs/choose_prototypes/{{dataset}}-{{subset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/choose_prototypes/{{dataset}}-{{subset}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=code_of("choose_prototypes"),
        seeds=CONFIG.seeds,
        choice=lambda wildcards: CONFIG.dataset_of(wildcards.dataset).prototype_choice,
    script:
        "../workflow_scripts/choose_prototypes.py"


rule build_training_quadruples:
    """Write the training quadruples of p prototypes, for each seed."""
    input:
        corpus=f"{RESULTS}/corpora/{{dataset}}.parquet",
        prototypes=prototype_files("{dataset}", "{subset}"),
    output:
        expand(
            f"{RESULTS}/quadruples/{{{{dataset}}}}/{{{{subset}}}}/p{{{{p}}}}/seed{{seed}}/"
            "train-{{number}}-per-{{per}}.parquet",
            seed=CONFIG.seeds,
        ),
    log:
        f"{RESULTS}/logs/build_quadruples/{{dataset}}-{{subset}}-p{{p}}-train-{{number}}-per-{{per}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_training_quadruples/{{dataset}}-{{subset}}-p{{p}}-{{number}}-per-{{per}}.jsonl"
    wildcard_constraints:
        number=r"\d+",
        per="pair|question",
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        code=code_of("build_quadruples"),
        seeds=CONFIG.seeds,
        splits=["train"],
    script:
        "../workflow_scripts/build_quadruples.py"


rule build_evaluation_quadruples:
    """Write the dev and test quadruples of p prototypes, for each seed."""
    input:
        corpus=f"{RESULTS}/corpora/{{dataset}}.parquet",
        prototypes=prototype_files("{dataset}", "{subset}"),
    output:
        expand(
            f"{RESULTS}/quadruples/{{{{dataset}}}}/{{{{subset}}}}/p{{{{p}}}}/seed{{seed}}/"
            "{split}.parquet",
            seed=CONFIG.seeds,
            split=["dev", "test"],
        ),
    log:
        f"{RESULTS}/logs/build_quadruples/{{dataset}}-{{subset}}-p{{p}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_evaluation_quadruples/{{dataset}}-{{subset}}-p{{p}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        code=code_of("build_quadruples"),
        seeds=CONFIG.seeds,
        splits=["dev", "test"],
    script:
        "../workflow_scripts/build_quadruples.py"
