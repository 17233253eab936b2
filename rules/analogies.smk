"""Sentence analogies: make the pairs of each category, join the categories of a data set, and solve the analogies.

needs: word analogies, texts and NLI files; a parser; vectors; weights of trained cells
makes: analogies/{category}.parquet, corpora/{dataset}.parquet, review/{dataset}.md,
       runs/{system}/{dataset}/all/solver={solver}/{metrics.parquet,run.json}, all solvers in one job
"""


rule induce_category:
    """Make the sentence pairs of a category from templates, or from sentences by rules."""
    input:
        unpack(INPUTS.induce_category),
    output:
        f"{RESULTS}/analogies/{{category}}.parquet",
    log:
        f"{RESULTS}/logs/induce_category/{{category}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/induce_category/{{category}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        given=PARAMS.induce_category,
    script:
        "../workflow_scripts/induce_category.py"


rule join_relations:
    """Join the categories of a data set into a corpus, and write a page of pairs for review."""
    input:
        unpack(INPUTS.join_relations),
    output:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        review=f"{RESULTS}/review/{{corpus}}.md",
    log:
        f"{RESULTS}/logs/join_relations/{{corpus}}.log",
    wildcard_constraints:
        corpus=EXPERIMENT.patterns["analogy data set"],
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        given=PARAMS.join_relations,
    script:
        "../workflow_scripts/join_relations.py"


rule solve_analogies:
    """Solve the analogies of a data set with every solver, for one system."""
    input:
        unpack(INPUTS.solve_analogies),
    output:
        [
            f"{RESULTS}/runs/{{system}}/{{dataset}}/all/{{before}}solver={solver}{{after}}/{file}"
            for solver in SOLVERS
            for file in ("metrics.parquet", "run.json")
        ],
    log:
        f"{RESULTS}/logs/solve_analogies/{{system}}/{{dataset}}-{{before}}{{after}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/solve_analogies/{{system}}/{{dataset}}-{{before}}{{after}}.jsonl"
    wildcard_constraints:
        dataset=EXPERIMENT.patterns["analogy data set"],
        before=EXPERIMENT.patterns["before solver"],
        after=EXPERIMENT.patterns["after solver"],
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        given=PARAMS.solve_analogies,
    script:
        "../workflow_scripts/solve_analogies.py"
