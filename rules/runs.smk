"""The runs of the systems: train encoders, tune hyperparameters, score and measure.

Checkpoints, in checkpoints/*.pt, are not declared as outputs, so they survive a failed job.
"""

# The runs that rank answers, by what their systems do.
TRAINED, SCORED, FUSED = map(run_folder, ("trained", "scored", "fused"))
COMPARING, EXPLAINED = map(run_folder, ("compares", "explained"))
# What a cell reads. Each is [] for a system that does not need it.
CELL_INPUTS = {
    # corpora/{corpus}.parquet, or its version in lemmas/ or rewritten/
    "corpus": cell_corpus,
    "vectors": required("vectors", "vectors/{dataset}/{vectors}.npy"),
    "sentence_vectors": cell_sentence_vectors,  # sentence_vectors/{corpus}/{sentence_vectors}.npy
    "frequencies": cell_frequencies,  # a file of words and their frequencies
    "prototypes": required("prototypes", "prototypes/{corpus}/{subset}/seed{seed}.parquet"),
    "train": required("training quadruples", f"{QUADRUPLES}/{{draw}}.parquet"),
    "dev": required("evaluation quadruples", f"{QUADRUPLES}/dev.parquet"),
    "test": required("evaluation quadruples", f"{QUADRUPLES}/test.parquet"),
    "earlier_run": required("earlier run", "runs/{cell}/run.json"),
    "selection": required("selection", "selection/{system}/{dataset}.json"),
    "sources": source_records(cell_frequencies),
}


rule train_encoder:
    """Train all seeds of a cell, choose each epoch on dev, score dev and test once."""
    input:
        **CELL_INPUTS,
    output:
        scores=f"{TRAINED}/scores.parquet",
        metrics=f"{TRAINED}/metrics.parquet",
        history=f"{TRAINED}/history.parquet",
        record=f"{TRAINED}/run.json",
    conda:
        "../envs/gpu.yaml"
    # The number of seeds that train in parallel.
    threads: 1
    resources:
        **growing(mem_mb=6000, runtime=120),
        gpu=GPUS,
    params:
        settings=cell_settings,
        sources=cell_sources,
    script:
        "../workflow_scripts/train_encoder.py"


rule look_inside:
    """Read the vectors and norms of the test split from the trained encoder of the first seed."""
    input:
        **CELL_INPUTS,
        record=f"{RUN}/run.json",
    output:
        f"{TRAINED}/inside.parquet",
    resources:
        **growing(mem_mb=2000, runtime=20),
    params:
        settings=cell_settings,
    script:
        "../workflow_scripts/look_inside.py"


rule find_decisions:
    """Find the prototype that decided each test question, in each seed."""
    input:
        corpus=cell_corpus,
        prototypes=CELL_INPUTS["prototypes"],
        scores=f"{RUN}/scores.parquet",
    output:
        f"{COMPARING}/decisions.parquet",
    localrule: True
    params:
        settings=cell_settings,
    script:
        "../workflow_scripts/find_decisions.py"


rule explain_examples:
    """Explain the clearest right and wrong decisions of the first seed, for the report."""
    input:
        **CELL_INPUTS,
        record=f"{RUN}/run.json",
        decisions=f"{RUN}/decisions.parquet",
    output:
        f"{EXPLAINED}/examples.json",
    localrule: True
    params:
        settings=cell_settings,
    script:
        "../workflow_scripts/explain_examples.py"


rule keep_weights:
    """Keep the weights of a trained encoder, for cells that solve analogies with it."""
    input:
        **CELL_INPUTS,
        record=f"{RUN}/run.json",
    output:
        f"{TRAINED}/weights.pt",
    localrule: True
    params:
        settings=cell_settings,
    script:
        "../workflow_scripts/keep_weights.py"


rule choose_hyperparameters:
    """Choose the hyperparameters of a system by the mean of its best dev value over the seeds."""
    input:
        # One for each name, also where two names stand for the same cell.
        histories=lambda wildcards: [
            f"{RESULTS}/runs/{cell.path}/history.parquet"
            for cell in candidates(wildcards).values()
        ],
    output:
        f"{RESULTS}/selection/{{system}}/{{dataset}}.json",
    wildcard_constraints:
        system=PATTERNS["tuned"],
    localrule: True
    params:
        settings=lambda wildcards: {
            "names": list(candidates(wildcards)),
            "subset": CONFIG.find_selection(wildcards.system).subset,
            "measure": CONFIG.systems[wildcards.system].training.select_by,
        },
    script:
        "../workflow_scripts/choose_hyperparameters.py"


rule score_candidates:
    """Score dev and test with an encoder that is not trained, for each seed."""
    input:
        **CELL_INPUTS,
    output:
        scores=f"{SCORED}/scores.parquet",
        metrics=f"{SCORED}/metrics.parquet",
        record=f"{SCORED}/run.json",
    resources:
        **growing(mem_mb=2000, runtime=20),
    params:
        settings=cell_settings,
        sources=cell_sources,
    script:
        "../workflow_scripts/score_candidates.py"


rule fuse_scores:
    """Fuse the scores of other systems' runs, with weights that are equal or learned on dev."""
    input:
        corpus=cell_corpus,
        scores=required("parts", "runs/{cell}/scores.parquet"),
        records=required("parts", "runs/{cell}/run.json"),
    output:
        scores=f"{FUSED}/scores.parquet",
        metrics=f"{FUSED}/metrics.parquet",
        record=f"{FUSED}/run.json",
    resources:
        **growing(mem_mb=2000, runtime=20),
    params:
        settings=cell_settings,
    script:
        "../workflow_scripts/fuse_scores.py"


rule measure_costs:
    """Count the parameters of systems, and time their steps in turns."""
    input:
        corpus=f"{RESULTS}/corpora/{{dataset}}.parquet",
        vectors=lambda wildcards: [
            f"{RESULTS}/vectors/{wildcards.dataset}/{name}.npy"
            for name in costed_vectors(wildcards)
        ],
    output:
        f"{RESULTS}/costs/{{dataset}}/{{subset}}.json",
    conda:
        "../envs/gpu.yaml"
    resources:
        **growing(mem_mb=16000, runtime=60),  # 14 GB on SemEvalCQA
        gpu=GPUS,
    params:
        settings=lambda wildcards: {
            "question_types": CONFIG.subset_types(wildcards.subset),
            "systems": {
                name: system_settings(system) for name, system in costed_systems(wildcards).items()
            },
            "lowercase": {
                name: reads_lowercase(CONFIG, system)
                for name, system in costed_systems(wildcards).items()
            },
            "vectors": costed_vectors(wildcards),
        },
        code=lambda wildcards: script_hash(
            "measure_costs",
            *chain(*map(plugin_code, costed_systems(wildcards).values())),
        ),
    script:
        "../workflow_scripts/measure_costs.py"
