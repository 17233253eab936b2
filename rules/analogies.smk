"""Sentence analogies: induce the pairs of categories, join those of a data set, solve them.

needs: word analogies, texts and files of inference; a model that parses; vectors; weights of cells that are trained
makes: analogies/{category}.parquet, corpora/{dataset}.parquet, review/{dataset}.md,
       runs/{system}/{dataset}/all/solver={solver}/{metrics.parquet,run.json}, all solvers at once
"""


rule induce_category:
    """Make the sentence pairs of a category from words and templates, or from sentences by rules."""
    input:
        unpack(lambda wildcards: AVAILABLE.categories[wildcards.category]),
        model=files_of_model(AVAILABLE.parser),
        sources=lambda wildcards: records_of_sources(
            [each for files in AVAILABLE.categories[wildcards.category].values() for each in files]
        ),
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
        code=lambda wildcards: code_of(
            "induce_category",
            *(RELATIONS[rule].module for rule in CONFIG.categories[wildcards.category].rule),
            *(entry.module for entry in DISTRACTORS.values()),
        ),
        category=lambda wildcards: CONFIG.categories[wildcards.category].model_dump(
            exclude={"title"}
        ),
        parser=AVAILABLE.parser,
        seed=CONFIG.seeds[0],
    script:
        "../workflow_scripts/induce_category.py"


rule join_relations:
    """Join the categories of a data set into a corpus, and draw pairs of each to be read."""
    input:
        unpack(lambda wildcards: relation_files_of(wildcards.corpus)),
    output:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        review=f"{RESULTS}/review/{{corpus}}.md",
    log:
        f"{RESULTS}/logs/join_relations/{{corpus}}.log",
    wildcard_constraints:
        corpus=SOLVED_DATASETS,
    localrule: True
    conda:
        "../envs/cpu.yaml"
    params:
        code=code_of("join_relations"),
        titles=lambda wildcards: {
            name: CONFIG.categories[name].title if name in CONFIG.categories else name
            for name in relation_files_of(wildcards.corpus)
        },
    script:
        "../workflow_scripts/join_relations.py"


rule solve_analogies:
    """Solve the analogies of a data set with every solver, by an encoder as it is or as trained."""
    input:
        unpack(solving_inputs),
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
        dataset=SOLVED_DATASETS,
        # What a cell has otherwise beside its solver.
        before=f"([^/]+{AT})?",
        after=f"({AT}[^/]+)?",
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        code=lambda wildcards: code_of(
            "solve_analogies",
            *modules_of(solving_system(wildcards)),
            *(entry.module for entry in SOLVERS.values()),
        ),
        system=solving_section,
        seeds=solving_seeds,
        sources=sources_of_solving,
        lowercase=lambda wildcards: lowercase_of_system(solving_system(wildcards)),
        configured=configurations_of_solvers,
    script:
        "../workflow_scripts/solve_analogies.py"
