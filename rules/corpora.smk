"""Build the corpus tables, and versions of them with replaced question words or with lemmas.

{corpus} is the name of a data set, followed by any overrides.
"""


rule build_corpus:
    """Read the splits of a data set into one table and type its questions."""
    input:
        train=available("train"),
        dev=available("dev"),
        test=available("test"),
        sources=split_records,
    output:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        record=f"{RESULTS}/corpora/{{corpus}}.json",
    wildcard_constraints:
        corpus=PATTERNS["ranked corpus"],
    resources:
        **growing(mem_mb=2000, runtime=20),
    params:
        settings=typed_corpus_settings,
        questions=lambda wildcards: dataset_at(wildcards).questions,
        code=lambda wildcards: script_hash(
            "build_corpus", READERS[dataset_at(wildcards).reader].definition
        ),
    script:
        "../workflow_scripts/build_corpus.py"


rule find_entities:
    """Find the named entities in the candidates that their question asks for."""
    input:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        model=model_files(AVAILABLE.entities),
    output:
        entities=f"{RESULTS}/entities/{{corpus}}.parquet",
        record=f"{RESULTS}/entities/{{corpus}}.json",
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        settings=lambda wildcards: {
            "model": model_names(PLAN.named_entities),
            "labels": PLAN.named_entities.labels,
        },
    script:
        "../workflow_scripts/find_entities.py"


rule rewrite_questions:
    """Replace question words by an entity, or by the prototype word of their type."""
    input:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        # A fold has the same entities as its data set.
        entities=lambda wildcards: f"{RESULTS}/entities/{cells.without_fold(wildcards.corpus)}.parquet",
        vectors=lambda wildcards: (
            f"{RESULTS}/vectors/{split_corpus(wildcards.corpus)[0]}/{PLAN.named_entities.vectors}.npy"
        ),
    output:
        f"{RESULTS}/rewritten/{{corpus}}/{{rewriting}}.parquet",
    resources:
        **growing(mem_mb=2000, runtime=20),
    params:
        settings=lambda wildcards: {
            "lowercase": vectors_settings(CONFIG, PLAN.named_entities.vectors)["lowercase"],
            "fold": dataset_at(wildcards).fold,
            "question_types": question_types(wildcards.corpus),
        },
    script:
        "../workflow_scripts/rewrite_questions.py"


rule lemmatise_corpus:
    """Replace the texts of a corpus by their lemmas."""
    input:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        model=model_files(AVAILABLE.lemmas),
        stop_words=list(filter(None, [AVAILABLE.stop_words])),
        sources=sources([AVAILABLE.stop_words]),
    output:
        words=f"{RESULTS}/lemmas/{{corpus}}/words.parquet",
        content=f"{RESULTS}/lemmas/{{corpus}}/content.parquet",
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        settings={
            "model": model_names(CONFIG.lemmas),
            "keep": CONFIG.lemmas and CONFIG.lemmas.keep,
        },
    script:
        "../workflow_scripts/lemmatise_corpus.py"
