"""Train and select word vectors, and encode sentences.

needs: corpora/{corpus}.parquet; files of vectors, weights of encoders, or texts to train them on
makes: vectors/trained/{vectors}.bin,
       vectors/{dataset}/{vectors}.npy with .words.txt and .json, for the words of the data set,
       sentence_vectors/{corpus}/{sentence_vectors}.npy with the same, for the sentences that ranking needs
"""


rule train_vectors:
    """Train fastText vectors on texts."""
    input:
        texts=training_texts,
        corpora=training_corpora,
        sources=lambda wildcards: sources(training_texts(wildcards)),
    output:
        f"{RESULTS}/vectors/trained/{{vectors}}.bin",
    log:
        f"{RESULTS}/logs/train_vectors/{{vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_vectors/{{vectors}}.jsonl"
    wildcard_constraints:
        vectors=PATTERNS["fastText"],
    conda:
        "../envs/cpu.yaml"
    # One thread makes training reproducible.
    threads: 1
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        settings=lambda wildcards: vectors_settings(CONFIG, wildcards.vectors),
        code=script_hash("train_vectors"),
    script:
        "../workflow_scripts/train_vectors.py"


use rule train_vectors as train_word2vec with:
    log:
        f"{RESULTS}/logs/train_word2vec/{{vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_word2vec/{{vectors}}.jsonl"
    wildcard_constraints:
        vectors=PATTERNS["word2vec"],


rule select_vectors:
    """Select the vectors of the words in a data set."""
    input:
        corpus=looked_up_corpus,
        vectors=lambda wildcards: vectors_file(wildcards.vectors),
        sources=lambda wildcards: sources([vectors_file(wildcards.vectors)]),
    output:
        vectors=f"{RESULTS}/vectors/{{dataset}}/{{vectors}}.npy",
        words=f"{RESULTS}/vectors/{{dataset}}/{{vectors}}.words.txt",
        record=f"{RESULTS}/vectors/{{dataset}}/{{vectors}}.json",
    log:
        f"{RESULTS}/logs/select_vectors/{{dataset}}-{{vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/select_vectors/{{dataset}}-{{vectors}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(60),
    params:
        settings=lambda wildcards: vectors_settings(CONFIG, wildcards.vectors),
        origin=lambda wildcards: AVAILABLE.vectors_origin(wildcards.vectors),
        code=script_hash("select_vectors"),
    script:
        "../workflow_scripts/select_vectors.py"


rule train_infersent:
    """Train InferSent on natural language inference."""
    input:
        train=lambda wildcards: sentence_files(wildcards, "train_on"),
        dev=lambda wildcards: sentence_files(wildcards, "dev_on"),
        disjoint_from=excluded_corpus,
        vectors=encoder_vectors,
        sources=lambda wildcards: sources(
            sentence_files(wildcards, "train_on") + sentence_files(wildcards, "dev_on")
        ),
    output:
        weights=f"{RESULTS}/sentence_vectors/trained/{{sentence_vectors}}.pt",
        record=f"{RESULTS}/sentence_vectors/trained/{{sentence_vectors}}.json",
    log:
        f"{RESULTS}/logs/train_infersent/{{sentence_vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_infersent/{{sentence_vectors}}.jsonl"
    # Start first: it is the longest job that others wait for.
    priority: 1
    conda:
        "../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(720),
        gpu=GPUS,
    params:
        settings=lambda wildcards: {
            **sentence_settings(CONFIG, wildcards.sentence_vectors),
            "seed": CONFIG.seeds[0],
        },
        code=script_hash("train_infersent"),
    script:
        "../workflow_scripts/train_infersent.py"


rule encode_sentences:
    """Encode the unique sentences of a data set that ranking needs."""
    input:
        corpus=encoded_corpus,
        vectors=encoder_vectors,
        weights=encoder_weights,
        files=lambda wildcards: sentence_files(wildcards, "files"),
        sources=lambda wildcards: sources(
            encoder_vectors(wildcards)
            + encoder_weights(wildcards)
            + sentence_files(wildcards, "files")
        ),
    output:
        vectors=f"{RESULTS}/sentence_vectors/{{corpus}}/{{sentence_vectors}}.npy",
        words=f"{RESULTS}/sentence_vectors/{{corpus}}/{{sentence_vectors}}.words.txt",
        record=f"{RESULTS}/sentence_vectors/{{corpus}}/{{sentence_vectors}}.json",
    log:
        f"{RESULTS}/logs/encode_sentences/{{corpus}}-{{sentence_vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/encode_sentences/{{corpus}}-{{sentence_vectors}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(240),
    params:
        settings=lambda wildcards: sentence_settings(CONFIG, wildcards.sentence_vectors),
        # The name of an installed model, which has no file of weights.
        name=lambda wildcards: next(iter(sentence_files(wildcards, "name")), None),
        origin=lambda wildcards: AVAILABLE.sentence_vectors_origin(wildcards.sentence_vectors),
        typed_only=ranks_typed_questions_only,
        code=lambda wildcards: script_hash(
            "encode_sentences",
            PRETRAINED[CONFIG.sentence_vectors[wildcards.sentence_vectors].encoder].definition,
        ),
    script:
        "../workflow_scripts/encode_sentences.py"
