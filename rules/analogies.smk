"""Sentence analogies: make pairs of each category, join them into a data set, and solve it."""


rule induce_category:
    """Make the sentence pairs of a category from templates, or from sentences by rules."""
    input:
        words=available("words"),
        texts=available("texts"),
        inference=available("inference"),
        triplets=available("triplets"),
        model=model_files(AVAILABLE.parser),
        sources=source_records(*map(available, ("words", "texts", "inference", "triplets"))),
    output:
        f"{RESULTS}/analogies/{{category}}.parquet",
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        settings=category_settings,
        code=category_code,
    script:
        "../workflow_scripts/induce_category.py"


rule join_relations:
    """Join the categories of a data set into a corpus, and write a page of pairs for review."""
    input:
        files=relation_tables,
    output:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        review=f"{RESULTS}/review/{{corpus}}.md",
    wildcard_constraints:
        corpus=PATTERNS["analogy data set"],
    localrule: True
    params:
        settings=relation_titles,
    script:
        "../workflow_scripts/join_relations.py"


rule solve_analogies:
    """Solve the analogies of a data set with every solver, for one system."""
    input:
        corpus=f"{RESULTS}/corpora/{{dataset}}.parquet",
        vectors=required("vectors", "vectors/{dataset}/{vectors}.npy"),
        sentence_vectors=cell_sentence_vectors,
        weights=required("trained encoder", "runs/{cell}/weights.pt"),
    output:
        [
            f"{RESULTS}/runs/{{system}}/{{dataset}}/all/{{before}}solver={solver}{{after}}/{file}"
            for solver in SOLVERS
            for file in ("metrics.parquet", "run.json")
        ],
    wildcard_constraints:
        dataset=PATTERNS["analogy data set"],
        before=PATTERNS["before solver"],
        after=PATTERNS["after solver"],
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        settings=lambda wildcards: {
            solver: known_settings(cell)
            for solver, cell in zip(SOLVERS, job_cells(wildcards), strict=True)
        },
        sources=cell_sources,
    script:
        "../workflow_scripts/solve_analogies.py"
