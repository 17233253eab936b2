"""Choose prototypes, and build the analogy quadruples of them.

needs: corpora/{corpus}.parquet
makes: prototypes/{corpus}/{subset}/seed{seed}.parquet,
       quadruples/{corpus}/{subset}/p{p}/seed{seed}/{train-...,dev,test}.parquet
"""


rule choose_prototypes:
    """Choose one prototype from every training question, in random order, for each seed."""
    input:
        f"{RESULTS}/corpora/{{corpus}}.parquet",
    output:
        INPUTS.prototypes("{corpus}", "{subset}"),
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
        given=PARAMS.choose_prototypes,
    script:
        "../workflow_scripts/choose_prototypes.py"


rule build_training_quadruples:
    """Build the training quadruples of p prototypes, for each seed."""
    input:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        prototypes=INPUTS.prototypes("{corpus}", "{subset}"),
    output:
        train=INPUTS.quadruples("{corpus}", "{subset}", "{p}", "train-{number}-per-{per}"),
    log:
        f"{RESULTS}/logs/build_quadruples/{{corpus}}-{{subset}}-p{{p}}-train-{{number}}-per-{{per}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_training_quadruples/{{corpus}}-{{subset}}-p{{p}}-{{number}}-per-{{per}}.jsonl"
    wildcard_constraints:
        per="pair|question",
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(30),
    params:
        given=PARAMS.build_training_quadruples,
    script:
        "../workflow_scripts/build_quadruples.py"


use rule build_training_quadruples as build_evaluation_quadruples with:
    output:
        dev=INPUTS.quadruples("{corpus}", "{subset}", "{p}", "dev"),
        test=INPUTS.quadruples("{corpus}", "{subset}", "{p}", "test"),
    log:
        f"{RESULTS}/logs/build_quadruples/{{corpus}}-{{subset}}-p{{p}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_evaluation_quadruples/{{corpus}}-{{subset}}-p{{p}}.jsonl"
    params:
        given=PARAMS.build_evaluation_quadruples,
