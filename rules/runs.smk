"""The runs of the systems: train encoders, tune hyperparameters, score and measure.

needs: corpora, vectors, prototypes, quadruples
makes: runs/{system}/{dataset}/{subset}/{overrides}/{scores,metrics,history}.parquet and run.json,
       selection/{system}/{dataset}.json,
       runs/{system}/{dataset}/{subset}/{overrides}/inside.parquet,
       runs/{system}/{dataset}/{subset}/{overrides}/decisions.parquet,
       runs/{system}/{dataset}/{subset}/{overrides}/examples.json,
       runs/{system}/{dataset}/{subset}/{overrides}/weights.pt,
       costs/{dataset}/{subset}.json,
       checkpoints/*.pt, which are not declared as outputs, so they survive a failed job
"""

RUN = f"{RESULTS}/runs/{{system}}/{{dataset}}/{{subset}}/{{overrides}}"


rule train_encoder:
    """Train all seeds of a cell, choose each epoch on dev, score dev and test once."""
    input:
        unpack(INPUTS.run_cell),
    output:
        scores=f"{RUN}/scores.parquet",
        metrics=f"{RUN}/metrics.parquet",
        history=f"{RUN}/history.parquet",
        record=f"{RUN}/run.json",
    log:
        f"{RESULTS}/logs/train_encoder/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_encoder/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.jsonl"
    wildcard_constraints:
        dataset=EXPERIMENT.patterns["ranked data set"],
        system=EXPERIMENT.patterns["trained"],
    conda:
        "../envs/gpu.yaml"
    # The number of seeds that train in parallel.
    threads: 1
    resources:
        mem_mb=growing(6000),
        runtime=growing(120),
        gpu=GPUS,
    params:
        given=PARAMS.train_encoder,
    script:
        "../workflow_scripts/train_encoder.py"


rule look_inside:
    """Read the vectors and norms of the test split from the trained encoder of the first seed."""
    input:
        unpack(INPUTS.read_cell),
    output:
        f"{RUN}/inside.parquet",
    log:
        f"{RESULTS}/logs/look_inside/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/look_inside/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.jsonl"
    wildcard_constraints:
        dataset=EXPERIMENT.patterns["ranked data set"],
        system=EXPERIMENT.patterns["trained"],
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        given=PARAMS.look_inside,
    script:
        "../workflow_scripts/look_inside.py"


rule find_decisions:
    """Find the prototype that decided each test question, in each seed."""
    input:
        unpack(INPUTS.find_decisions),
    output:
        f"{RUN}/decisions.parquet",
    log:
        f"{RESULTS}/logs/find_decisions/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.log",
    wildcard_constraints:
        dataset=EXPERIMENT.patterns["ranked data set"],
        system=EXPERIMENT.patterns["compares"],
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.find_decisions,
    script:
        "../workflow_scripts/find_decisions.py"


rule explain_examples:
    """Explain the clearest right and wrong decisions of the first seed, for the report."""
    input:
        unpack(INPUTS.explain_examples),
    output:
        f"{RUN}/examples.json",
    log:
        f"{RESULTS}/logs/explain_examples/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.log",
    wildcard_constraints:
        dataset=EXPERIMENT.patterns["ranked data set"],
        system=EXPERIMENT.patterns["explained"],
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.explain_examples,
    script:
        "../workflow_scripts/explain_examples.py"


rule keep_weights:
    """Keep the weights of a trained encoder, for cells that solve analogies with it."""
    input:
        unpack(INPUTS.read_cell),
    output:
        f"{RUN}/weights.pt",
    log:
        f"{RESULTS}/logs/keep_weights/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.log",
    wildcard_constraints:
        dataset=EXPERIMENT.patterns["ranked data set"],
        system=EXPERIMENT.patterns["trained"],
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.keep_weights,
    script:
        "../workflow_scripts/keep_weights.py"


rule choose_hyperparameters:
    """Choose the hyperparameters of a system by the mean of its best dev value over the seeds."""
    input:
        unpack(INPUTS.choose_hyperparameters),
    output:
        f"{RESULTS}/selection/{{system}}/{{dataset}}.json",
    log:
        f"{RESULTS}/logs/choose_hyperparameters/{{system}}-{{dataset}}.log",
    wildcard_constraints:
        system=EXPERIMENT.patterns["tuned"],
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.choose_hyperparameters,
    script:
        "../workflow_scripts/choose_hyperparameters.py"


rule score_candidates:
    """Score dev and test with an encoder that is not trained, for each seed."""
    input:
        unpack(INPUTS.run_cell),
    output:
        scores=f"{RUN}/scores.parquet",
        metrics=f"{RUN}/metrics.parquet",
        record=f"{RUN}/run.json",
    log:
        f"{RESULTS}/logs/score_candidates/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/score_candidates/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.jsonl"
    wildcard_constraints:
        dataset=EXPERIMENT.patterns["ranked data set"],
        system=EXPERIMENT.patterns["scored"],
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        given=PARAMS.score_candidates,
    script:
        "../workflow_scripts/score_candidates.py"


rule fuse_scores:
    """Fuse the scores of other systems' runs, with weights that are equal or learned on dev."""
    input:
        unpack(INPUTS.fuse_scores),
    output:
        scores=f"{RUN}/scores.parquet",
        metrics=f"{RUN}/metrics.parquet",
        record=f"{RUN}/run.json",
    log:
        f"{RESULTS}/logs/fuse_scores/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/fuse_scores/{{system}}/{{dataset}}-{{subset}}-{{overrides}}.jsonl"
    wildcard_constraints:
        dataset=EXPERIMENT.patterns["ranked data set"],
        system=EXPERIMENT.patterns["fused"],
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        given=PARAMS.fuse_scores,
    script:
        "../workflow_scripts/fuse_scores.py"


rule measure_costs:
    """Count the parameters of systems, and time their steps in turns."""
    input:
        unpack(INPUTS.measure_costs),
    output:
        f"{RESULTS}/costs/{{dataset}}/{{subset}}.json",
    log:
        f"{RESULTS}/logs/measure_costs/{{dataset}}-{{subset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/measure_costs/{{dataset}}-{{subset}}.jsonl"
    conda:
        "../envs/gpu.yaml"
    resources:
        mem_mb=growing(16000),  # 14 GB on SemEvalCQA
        runtime=growing(60),
        gpu=GPUS,
    params:
        given=PARAMS.measure_costs,
    script:
        "../workflow_scripts/measure_costs.py"
