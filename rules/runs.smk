"""The runs of the systems: train, choose a setting, score and measure.

needs: corpora, vectors, prototypes, quadruples
makes: runs/{system}/{dataset}/{subset}/{axes}/{scores,metrics,history}.parquet and run.json,
       selection/{system}/{dataset}.json,
       runs/{system}/{dataset}/{subset}/{axes}/inside.parquet,
       runs/{system}/{dataset}/{subset}/{axes}/weights.pt,
       costs/{dataset}/{subset}.json,
       checkpoints/*.pt, which are no output: they outlive a job that dies
"""


rule train_encoder:
    """Train all seeds of a cell, choose each epoch on dev, score dev and test once."""
    input:
        unpack(checked_inputs),
    output:
        scores=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/scores.parquet",
        metrics=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/metrics.parquet",
        history=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/history.parquet",
        record=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/run.json",
    log:
        f"{RESULTS}/logs/train_encoder/{{system}}/{{dataset}}-{{subset}}-{{axes}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_encoder/{{system}}/{{dataset}}-{{subset}}-{{axes}}.jsonl"
    wildcard_constraints:
        dataset=RANKED_DATASETS,
        system=one_of(name for name in CONFIG.systems if CONFIG.systems[name].trained),
    conda:
        "../envs/gpu.yaml"
    # Seeds that are trained at a time.
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(120),
        gpu=GPUS,
    params:
        code=lambda wildcards: code_of("train_encoder", *modules_of(system_of(wildcards))),
        types=types_of,
        sources=sources_of,
        settings=settings_of,
        seeds=seeds_of,
        lowercase=lowercase_of,
        configured=configuration_of_cell,
    script:
        "../workflow_scripts/train_encoder.py"


rule look_inside:
    """Read the vectors and norms of the test split out of a trained encoder, of the first seed."""
    input:
        unpack(cell_inputs),
        record=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/run.json",
    output:
        f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/inside.parquet",
    log:
        f"{RESULTS}/logs/look_inside/{{system}}/{{dataset}}-{{subset}}-{{axes}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/look_inside/{{system}}/{{dataset}}-{{subset}}-{{axes}}.jsonl"
    wildcard_constraints:
        dataset=RANKED_DATASETS,
        system=one_of(name for name in CONFIG.systems if CONFIG.systems[name].trained),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=lambda wildcards: code_of("look_inside", *modules_of(system_of(wildcards))),
        types=types_of,
        settings=settings_of,
        seeds=lambda wildcards: seeds_of(wildcards)[:1],
        lowercase=lowercase_of,
    script:
        "../workflow_scripts/look_inside.py"


rule keep_weights:
    """Keep the weights of a trained encoder, all seeds, for what asks it for vectors."""
    input:
        unpack(cell_inputs),
        record=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/run.json",
    output:
        f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/weights.pt",
    log:
        f"{RESULTS}/logs/keep_weights/{{system}}/{{dataset}}-{{subset}}-{{axes}}.log",
    wildcard_constraints:
        dataset=RANKED_DATASETS,
        system=one_of(name for name in CONFIG.systems if CONFIG.systems[name].trained),
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=lambda wildcards: code_of("keep_weights", *modules_of(system_of(wildcards))),
        types=types_of,
        settings=settings_of,
        seeds=seeds_of,
        lowercase=lowercase_of,
    script:
        "../workflow_scripts/keep_weights.py"


rule choose_setting:
    """Choose the setting of a system by the mean of its best dev value over the seeds."""
    input:
        unpack(histories_of_settings),
    output:
        f"{RESULTS}/selection/{{system}}/{{dataset}}.json",
    log:
        f"{RESULTS}/logs/choose_setting/{{system}}-{{dataset}}.log",
    wildcard_constraints:
        system=one_of(name for name in CONFIG.systems if CONFIG.selection_of(name)),
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=code_of("choose_setting"),
        subset=lambda wildcards: CONFIG.selection_of(wildcards.system).subset,
        measure=lambda wildcards: CONFIG.systems[wildcards.system].training.select_by,
    script:
        "../workflow_scripts/choose_setting.py"


rule score_candidates:
    """Score dev and test with an encoder that is not trained, for each seed."""
    input:
        unpack(checked_inputs),
    output:
        scores=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/scores.parquet",
        metrics=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/metrics.parquet",
        record=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/run.json",
    log:
        f"{RESULTS}/logs/score_candidates/{{system}}/{{dataset}}-{{subset}}-{{axes}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score_candidates/{{system}}/{{dataset}}-{{subset}}-{{axes}}.jsonl"
    wildcard_constraints:
        dataset=RANKED_DATASETS,
        system=one_of(
            name for name, system in CONFIG.systems.items() if not (system.trained or system.parts)
        ),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=lambda wildcards: code_of("score_candidates", *modules_of(system_of(wildcards))),
        types=types_of,
        sources=sources_of,
        system=lambda wildcards: system_of(wildcards).model_dump(exclude={"title", "training"}),
        seeds=seeds_of,
        lowercase=lowercase_of,
        configured=configuration_of_cell,
    script:
        "../workflow_scripts/score_candidates.py"


rule fuse_scores:
    """Fuse the scores of other systems' runs; weights are learned on dev, where they are."""
    input:
        unpack(fused_inputs),
    output:
        scores=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/scores.parquet",
        metrics=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/metrics.parquet",
        record=f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{axes}}/run.json",
    log:
        f"{RESULTS}/logs/fuse_scores/{{system}}/{{dataset}}-{{subset}}-{{axes}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/fuse_scores/{{system}}/{{dataset}}-{{subset}}-{{axes}}.jsonl"
    wildcard_constraints:
        dataset=RANKED_DATASETS,
        system=one_of(name for name in CONFIG.systems if CONFIG.systems[name].parts),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=lambda wildcards: code_of("fuse_scores", *modules_of(system_of(wildcards))),
        types=types_of,
        system=lambda wildcards: system_of(wildcards).model_dump(exclude={"title", "training"}),
        parts=lambda wildcards: list(parts_of_cell(wildcards)),
        seeds=seeds_of,
        configured=configuration_of_cell,
    script:
        "../workflow_scripts/fuse_scores.py"


rule measure_costs:
    """Count what systems learn, and time their steps in turns, so that they can be compared."""
    input:
        unpack(cost_inputs),
    output:
        f"{RESULTS}/costs/{{dataset}}/{{subset}}.json",
    log:
        f"{RESULTS}/logs/measure_costs/{{dataset}}-{{subset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/measure_costs/{{dataset}}-{{subset}}.jsonl"
    conda:
        "../envs/gpu.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=growing(60),
        gpu=GPUS,
    params:
        code=lambda wildcards: code_of(
            "measure_costs",
            *(
                module
                for system in systems_of_cost(wildcards).values()
                for module in modules_of(system)
            ),
        ),
        types=types_of,
        systems=lambda wildcards: {
            name: system.model_dump(exclude={"title"})
            for name, system in systems_of_cost(wildcards).items()
        },
        lowercase=lambda wildcards: {
            name: lowercase_of_vectors(system.vectors)
            for name, system in systems_of_cost(wildcards).items()
        },
    script:
        "../workflow_scripts/measure_costs.py"
