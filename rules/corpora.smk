"""The corpus tables, as they are and with the question words replaced.

needs: the files of the data sets' splits; a model of named entities
makes: corpora/{dataset}.parquet, entities/{dataset}.parquet,
       rewritten/{dataset}/{rewriting}.parquet
"""


rule build_corpus:
    """Read the splits of a data set into one table and type its questions."""
    input:
        unpack(lambda wildcards: split_files(wildcards.dataset)),
        sources=lambda wildcards: records_of_sources(split_files(wildcards.dataset).values()),
    output:
        f"{RESULTS}/corpora/{{dataset}}.parquet",
    log:
        f"{RESULTS}/logs/build_corpus/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_corpus/{{dataset}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=lambda wildcards: code_of("build_corpus", reader_module(wildcards.dataset)),
        reader=lambda wildcards: CONFIG.dataset_of(wildcards.dataset).reader,
        questions=lambda wildcards: CONFIG.dataset_of(wildcards.dataset).questions,
        drop_all_correct=lambda wildcards: CONFIG.dataset_of(wildcards.dataset).drop_all_correct,
    script:
        "../workflow_scripts/build_corpus.py"


rule find_entities:
    """Find the named entities of the candidates, of the type that their question asks for."""
    input:
        corpus=f"{RESULTS}/corpora/{{dataset}}.parquet",
        patterns=entity_patterns(),
    output:
        entities=f"{RESULTS}/entities/{{dataset}}.parquet",
        record=f"{RESULTS}/entities/{{dataset}}.json",
    log:
        f"{RESULTS}/logs/find_entities/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/find_entities/{{dataset}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        code=code_of("find_entities"),
        model=CONFIG.named_entities and CONFIG.named_entities.model,
    script:
        "../workflow_scripts/find_entities.py"


rule rewrite_questions:
    """Replace the question words by an entity or by the prototype word of their type."""
    input:
        corpus=f"{RESULTS}/corpora/{{dataset}}.parquet",
        entities=f"{RESULTS}/entities/{{dataset}}.parquet",
        vectors=(
            f"{RESULTS}/vectors/{CONFIG.named_entities.vectors}.npy"
            if CONFIG.named_entities
            else []
        ),
    output:
        f"{RESULTS}/rewritten/{{dataset}}/{{rewriting}}.parquet",
    log:
        f"{RESULTS}/logs/rewrite_questions/{{dataset}}-{{rewriting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/rewrite_questions/{{dataset}}-{{rewriting}}.jsonl"
    wildcard_constraints:
        rewriting="entity|prototype_word",
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=code_of("rewrite_questions"),
        lowercase=CONFIG.named_entities and lowercase_of_vectors(CONFIG.named_entities.vectors),
    script:
        "../workflow_scripts/rewrite_questions.py"
