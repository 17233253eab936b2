"""The runs of the models: train, choose a setting, score, measure.

needs: corpora, vectors, prototypes, quadruples
makes: runs/{model}/{dataset}/{subset}/p{p}/{scores.parquet,history.parquet,run.json},
       selection/{model}/{dataset}.json, metrics/{model}/{dataset}/{subset}/p{p}.parquet,
       checkpoints/*.pt, which are no output: they outlive a job that dies
"""


rule train_encoder:
    """Train all seeds of a cell, choose each epoch on dev, score dev and test once."""
    input:
        unpack(cell_inputs),
    output:
        scores=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/scores.parquet",
        history=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/history.parquet",
        record=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/run.json",
    log:
        f"{RESULTS}/logs/train_encoder/{{model}}/{{dataset}}-{{subset}}-p{{p}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_encoder/{{model}}/{{dataset}}-{{subset}}-p{{p}}.jsonl"
    wildcard_constraints:
        model=one_of(filter(is_trained, all_model_ids())),
    conda:
        "../envs/cpu.yaml"
    threads: 1
    resources:
        mem_mb=4000,
    params:
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
    conda:
        "../envs/cpu.yaml"
    params:
        subset=CONFIG.selection.subset,
    script:
        "../workflow_scripts/choose_setting.py"


rule score_candidates:
    """Score dev and test with an encoder that is not trained, for each seed."""
    input:
        unpack(cell_inputs),
    output:
        scores=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/scores.parquet",
        record=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/run.json",
    log:
        f"{RESULTS}/logs/score_candidates/{{model}}/{{dataset}}-{{subset}}-p{{p}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score_candidates/{{model}}/{{dataset}}-{{subset}}-p{{p}}.jsonl"
    wildcard_constraints:
        model=one_of(name for name in all_model_ids() if not is_trained(name)),
    conda:
        "../envs/cpu.yaml"
    params:
        model=lambda wildcards: scientific(wildcards.model),
        sources=lambda wildcards: sources_of(wildcards.model, wildcards.dataset),
        seeds=CONFIG.seeds,
        lowercase=lambda wildcards: lowercase_of(wildcards.model),
    script:
        "../workflow_scripts/score_candidates.py"


rule measure_runs:
    """Measure every question of a run with trec_eval's AP and RR."""
    input:
        corpus=f"{RESULTS}/corpora/{{dataset}}.parquet",
        scores=f"{RESULTS}/runs/{{model}}/{{dataset}}/{{subset}}/p{{p}}/scores.parquet",
    output:
        f"{RESULTS}/metrics/{{model}}/{{dataset}}/{{subset}}/p{{p}}.parquet",
    log:
        f"{RESULTS}/logs/measure_runs/{{model}}/{{dataset}}-{{subset}}-p{{p}}.log",
    wildcard_constraints:
        model=one_of(all_model_ids()),
    conda:
        "../envs/cpu.yaml"
    script:
        "../workflow_scripts/measure_runs.py"
