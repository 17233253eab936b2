"""What is learned from the text of the data sets themselves: lemmas, and word2vec vectors of them.

needs: corpora/{corpus}.parquet; a spaCy model
makes: lemmas/{corpus}/words.parquet and content.parquet, corpora with lemmas of all words and of the
       content words alone; vectors/trained/{vectors}.bin
"""


rule lemmatise_corpus:
    """Put lemmas in the place of the texts of a corpus."""
    input:
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
        model=files_of_model(AVAILABLE.lemmas),
    output:
        words=f"{RESULTS}/lemmas/{{corpus}}/words.parquet",
        content=f"{RESULTS}/lemmas/{{corpus}}/content.parquet",
    log:
        f"{RESULTS}/logs/lemmatise_corpus/{{corpus}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/lemmatise_corpus/{{corpus}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        code=code_of("lemmatise_corpus"),
        model=AVAILABLE.lemmas,
        keep=CONFIG.lemmas and CONFIG.lemmas.keep,
    script:
        "../workflow_scripts/lemmatise_corpus.py"


rule train_word2vec:
    """Train word2vec on the questions and candidates of corpora."""
    input:
        corpora=lambda wildcards: corpora_of_vectors(wildcards.vectors),
    output:
        f"{RESULTS}/vectors/trained/{{vectors}}.bin",
    log:
        f"{RESULTS}/logs/train_word2vec/{{vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_word2vec/{{vectors}}.jsonl"
    wildcard_constraints:
        vectors=vectors_pattern(name for name in CONFIG.vectors if CONFIG.vectors[name].corpora),
    conda:
        "../envs/cpu.yaml"
    # The same text gives the same vectors with one only.
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(240),
    params:
        code=code_of("train_word2vec"),
        splits=lambda wildcards: list(CONFIG.vectors_at(wildcards.vectors).corpora.values()),
        dim=lambda wildcards: CONFIG.vectors_at(wildcards.vectors).dim,
        window=lambda wildcards: CONFIG.vectors_at(wildcards.vectors).window,
        epochs=lambda wildcards: CONFIG.vectors_at(wildcards.vectors).epochs,
        min_count=lambda wildcards: CONFIG.vectors_at(wildcards.vectors).min_count,
        lowercase=lambda wildcards: lowercase_of_vectors(wildcards.vectors),
    script:
        "../workflow_scripts/train_word2vec.py"
