"""The runs of the models: train, choose a setting, score and measure.

needs: corpora, vectors, prototypes, quadruples
makes: runs/{model}/{dataset}/{subset}/p{p}/{scores,metrics,history}.parquet and run.json,
       selection/{model}/{dataset}.json,
       checkpoints/*.pt, which are no output: they outlive a job that dies
"""


rule train_encoder:
    """Train all seeds of a cell, choose each epoch on dev, score dev and test once."""
    input:
        unpack(cell_inputs),
    output:
        scores=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/scores.parquet",
        metrics=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/metrics.parquet",
        history=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/history.parquet",
        record=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/run.json",
    log:
        f"{RESULTS}/logs/train_encoder/{{model}}/{{dataset}}-{{subset}}-p{{p}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_encoder/{{model}}/{{dataset}}-{{subset}}-p{{p}}.jsonl"
    wildcard_constraints:
        model=one_of(filter(is_trained, all_model_ids())),
    conda:
        "../envs/gpu.yaml"
    # Seeds that are trained at a time.
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(120),
        gpu=GPUS,
    params:
        code=lambda wildcards: code_of("train_encoder", encoder_module(wildcards.model)),
        model=lambda wildcards: scientific(wildcards.model),
        sources=lambda wildcards: sources_of(wildcards.model, wildcards.dataset),
        settings=lambda wildcards: trainings_of(wildcards.model),
        seeds=CONFIG.seeds,
        lowercase=lambda wildcards: lowercase_of(wildcards.model),
    script:
        "../workflow_scripts/train_encoder.py"


rule choose_setting:
    """Choose the setting of a model by its mean dev MRR over the seeds."""
    input:
        unpack(histories_of_settings),
    output:
        f"{RESULTS}/selection/{{model}}/{{dataset}}.json",
    log:
        f"{RESULTS}/logs/choose_setting/{{model}}-{{dataset}}.log",
    wildcard_constraints:
        model=one_of(CONFIG.selection.models),
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=code_of("choose_setting"),
        subset=CONFIG.selection.subset,
    script:
        "../workflow_scripts/choose_setting.py"


rule score_candidates:
    """Score dev and test with an encoder that is not trained, for each seed."""
    input:
        unpack(cell_inputs),
    output:
        scores=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/scores.parquet",
        metrics=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/metrics.parquet",
        record=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/run.json",
    log:
        f"{RESULTS}/logs/score_candidates/{{model}}/{{dataset}}-{{subset}}-p{{p}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score_candidates/{{model}}/{{dataset}}-{{subset}}-p{{p}}.jsonl"
    wildcard_constraints:
        model=one_of(name for name in all_model_ids() if not is_trained(name)),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=lambda wildcards: code_of("score_candidates", encoder_module(wildcards.model)),
        model=lambda wildcards: scientific(wildcards.model),
        sources=lambda wildcards: sources_of(wildcards.model, wildcards.dataset),
        seeds=CONFIG.seeds,
        lowercase=lambda wildcards: lowercase_of(wildcards.model),
    script:
        "../workflow_scripts/score_candidates.py"
