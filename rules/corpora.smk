"""The corpus tables, as they are and with the question words replaced.

needs: the files of the data sets' splits; a model of named entities
makes: corpora/{corpus}.{parquet,json}, entities/{corpus}.parquet, rewritten/{corpus}/{rewriting}.parquet;
       a corpus is a data set, with axes behind its name where it is read otherwise
"""


rule build_corpus:
    """Read the splits of a data set into one table and type its questions."""
    input:
        unpack(corpus_inputs),
    output:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        record=f"{RESULTS}/corpora/{{corpus}}.json",
    log:
        f"{RESULTS}/logs/build_corpus/{{corpus}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_corpus/{{corpus}}.jsonl"
    wildcard_constraints:
        corpus=f"({RANKED_DATASETS})({AT}[^/]+)?",
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(20),
    params:
        code=lambda wildcards: code_of("build_corpus", reader_module(wildcards.corpus)),
        reader=lambda wildcards: dataset_of(wildcards.corpus).reader,
        questions=lambda wildcards: dataset_of(wildcards.corpus).questions,
        question_types=types_of_corpus,
        drop_all_correct=lambda wildcards: dataset_of(wildcards.corpus).drop_all_correct,
        parts=lambda wildcards: dataset_of(wildcards.corpus).parts,
        fold=lambda wildcards: dataset_of(wildcards.corpus).fold,
        train_share=lambda wildcards: dataset_of(wildcards.corpus).train_share,
        configured=configuration_of_corpus,
    script:
        "../workflow_scripts/build_corpus.py"


rule find_entities:
    """Find the named entities of the candidates, of the type that their question asks for."""
    input:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        model=files_of_model(AVAILABLE.entities),
    output:
        entities=f"{RESULTS}/entities/{{corpus}}.parquet",
        record=f"{RESULTS}/entities/{{corpus}}.json",
    log:
        f"{RESULTS}/logs/find_entities/{{corpus}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/find_entities/{{corpus}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        code=code_of("find_entities"),
        model=CONFIG.named_entities and CONFIG.named_entities.model,
        labels=CONFIG.named_entities and CONFIG.named_entities.labels,
    script:
        "../workflow_scripts/find_entities.py"


rule rewrite_questions:
    """Replace the question words by an entity or by the prototype word of their type."""
    input:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        # Those of a fold are those of the data set.
        entities=lambda wildcards: f"{RESULTS}/entities/{unfolded(wildcards.corpus)}.parquet",
        vectors=lambda wildcards: (
            f"{RESULTS}/vectors/{split_corpus(wildcards.corpus)[0]}/{CONFIG.named_entities.vectors}.npy"
        ),
    output:
        f"{RESULTS}/rewritten/{{corpus}}/{{rewriting}}.parquet",
    log:
        f"{RESULTS}/logs/rewrite_questions/{{corpus}}-{{rewriting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/rewrite_questions/{{corpus}}-{{rewriting}}.jsonl"
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
        fold=lambda wildcards: dataset_of(wildcards.corpus).fold,
        question_words=lambda wildcards: [
            word for words in types_of_corpus(wildcards).values() for word in words
        ],
    script:
        "../workflow_scripts/rewrite_questions.py"
