"""Train and select word vectors, and encode sentences."""


rule train_vectors:
    """Train fastText vectors on texts."""
    input:
        texts=training_texts,
        corpora=training_corpora,
        sources=source_records(training_texts),
    output:
        f"{RESULTS}/vectors/trained/{{vectors}}.bin",
    wildcard_constraints:
        vectors=PATTERNS["fastText"],
    # One thread makes training reproducible.
    threads: 1
    resources:
        **growing(mem_mb=4000, runtime=240),
    params:
        settings=lambda wildcards: vectors_settings(CONFIG, wildcards.vectors),
    script:
        "../workflow_scripts/train_vectors.py"


use rule train_vectors as train_word2vec with:
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
    resources:
        **growing(mem_mb=4000, runtime=60),
    params:
        settings=lambda wildcards: vectors_settings(CONFIG, wildcards.vectors),
        origin=lambda wildcards: AVAILABLE.vectors_origin(wildcards.vectors),
    script:
        "../workflow_scripts/select_vectors.py"


rule train_infersent:
    """Train InferSent on natural language inference."""
    input:
        train=available("train_on"),
        dev=available("dev_on"),
        disjoint_from=excluded_corpus,
        vectors=encoder_vectors,
        sources=source_records(available("train_on"), available("dev_on")),
    output:
        weights=f"{RESULTS}/sentence_vectors/trained/{{sentence_vectors}}.pt",
        record=f"{RESULTS}/sentence_vectors/trained/{{sentence_vectors}}.json",
    # Start first: it is the longest job that others wait for.
    priority: 1
    conda:
        "../envs/gpu.yaml"
    threads: 1
    resources:
        **growing(mem_mb=8000, runtime=720),
        gpu=GPUS,
    params:
        settings=lambda wildcards: {
            **sentence_settings(CONFIG, wildcards.sentence_vectors),
            "seed": CONFIG.seeds[0],
        },
    script:
        "../workflow_scripts/train_infersent.py"


rule encode_sentences:
    """Encode the unique sentences of a data set that ranking needs."""
    input:
        corpus=encoded_corpus,
        vectors=encoder_vectors,
        weights=encoder_weights,
        files=available("files"),
        sources=source_records(encoder_vectors, encoder_weights, available("files")),
    output:
        vectors=f"{RESULTS}/sentence_vectors/{{corpus}}/{{sentence_vectors}}.npy",
        words=f"{RESULTS}/sentence_vectors/{{corpus}}/{{sentence_vectors}}.words.txt",
        record=f"{RESULTS}/sentence_vectors/{{corpus}}/{{sentence_vectors}}.json",
    threads: 1
    resources:
        **growing(mem_mb=8000, runtime=240),
    params:
        settings=lambda wildcards: sentence_settings(CONFIG, wildcards.sentence_vectors),
        # The name of an installed model, which has no file of weights.
        name=lambda wildcards: next(iter(available("name")(wildcards)), None),
        origin=lambda wildcards: AVAILABLE.sentence_vectors_origin(wildcards.sentence_vectors),
        typed_only=ranks_typed_questions_only,
        with_training=reads_wrong_training_answers,
        code=lambda wildcards: script_hash(
            "encode_sentences",
            PRETRAINED[pretrained_encoder(wildcards).encoder].definition,
        ),
    script:
        "../workflow_scripts/encode_sentences.py"
