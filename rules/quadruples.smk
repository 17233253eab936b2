"""Choose prototypes, and build the analogy quadruples of them."""


rule choose_prototypes:
    """Choose one prototype from every training question, in random order, for each seed."""
    input:
        corpora_by_seed,
    output:
        by_seed("prototypes/{corpus}/{subset}/seed{seed}.parquet"),
    resources:
        **growing(mem_mb=2000, runtime=20),
    params:
        settings=lambda wildcards: {
            **subset_settings(wildcards),
            "prototype_choice": dataset_at(wildcards).prototype_choice,
        },
    script:
        "../workflow_scripts/choose_prototypes.py"


rule build_training_quadruples:
    """Build the training quadruples of p prototypes, for each seed."""
    input:
        corpus=corpora_by_seed,
        prototypes=by_seed("prototypes/{corpus}/{subset}/seed{seed}.parquet"),
    output:
        train=by_seed(f"{QUADRUPLES}/train-{{number}}-per-{{per}}.parquet"),
    resources:
        **growing(mem_mb=2000, runtime=30),
    params:
        settings=subset_settings,
    script:
        "../workflow_scripts/build_quadruples.py"


use rule build_training_quadruples as build_evaluation_quadruples with:
    output:
        dev=by_seed(f"{QUADRUPLES}/dev.parquet"),
        test=by_seed(f"{QUADRUPLES}/test.parquet"),
