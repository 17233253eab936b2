"""The prototypes, and the analogy quadruples made of them.

needs: corpora/{corpus}.parquet
makes: prototypes/{corpus}/{subset}/seed{seed}.parquet,
       quadruples/{corpus}/{subset}/p{p}/seed{seed}/{train-...,dev,test}.parquet
"""


rule choose_prototypes:
    """Choose a prototype from every training question, in an order seeded by each seed."""
    input:
        f"{RESULTS}/corpora/{{corpus}}.parquet",
    output:
        prototype_files("{corpus}", "{subset}"),
    log:
        f"{RESULTS}/logs/choose_prototypes/{{corpus}}-{{subset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/choose_prototypes/{{corpus}}-{{subset}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=code_of("choose_prototypes"),
        seeds=CONFIG.all_seeds,
        types=types_of,
        choice=lambda wildcards: dataset_of(wildcards.corpus).prototype_choice,
    script:
        "../workflow_scripts/choose_prototypes.py"


rule build_training_quadruples:
    """Write the training quadruples of p prototypes, for each seed."""
    input:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        prototypes=prototype_files("{corpus}", "{subset}"),
    output:
        expand(
            f"{RESULTS}/quadruples/{{{{corpus}}}}/{{{{subset}}}}/p{{{{p}}}}/seed{{seed}}/"
            "train-{{number}}-per-{{per}}.parquet",
            seed=CONFIG.all_seeds,
        ),
    log:
        f"{RESULTS}/logs/build_quadruples/{{corpus}}-{{subset}}-p{{p}}-train-{{number}}-per-{{per}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_training_quadruples/{{corpus}}-{{subset}}-p{{p}}-{{number}}-per-{{per}}.jsonl"
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
        seeds=CONFIG.all_seeds,
        types=types_of,
        splits=["train"],
    script:
        "../workflow_scripts/build_quadruples.py"


rule build_evaluation_quadruples:
    """Write the dev and test quadruples of p prototypes, for each seed."""
    input:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        prototypes=prototype_files("{corpus}", "{subset}"),
    output:
        expand(
            f"{RESULTS}/quadruples/{{{{corpus}}}}/{{{{subset}}}}/p{{{{p}}}}/seed{{seed}}/"
            "{split}.parquet",
            seed=CONFIG.all_seeds,
            split=["dev", "test"],
        ),
    log:
        f"{RESULTS}/logs/build_quadruples/{{corpus}}-{{subset}}-p{{p}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_evaluation_quadruples/{{corpus}}-{{subset}}-p{{p}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        code=code_of("build_quadruples"),
        seeds=CONFIG.all_seeds,
        types=types_of,
        splits=["dev", "test"],
    script:
        "../workflow_scripts/build_quadruples.py"
