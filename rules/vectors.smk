"""The word vectors and the sentence vectors.

needs: corpora/{corpus}.parquet; files of vectors, weights of encoders, or texts to train them on
makes: vectors/{dataset}/{vectors}.npy with its .words.txt and .json, the words of the data set only,
       sentence_vectors/{corpus}/{sentence_vectors}.npy likewise, the sentences that are ranked
"""


rule train_vectors:
    """Train fastText vectors on texts."""
    input:
        texts=lambda wildcards: AVAILABLE.vectors[wildcards.vectors],
        sources=lambda wildcards: records_of_sources(AVAILABLE.vectors[wildcards.vectors]),
    output:
        f"{RESULTS}/vectors/trained/{{vectors}}.bin",
    log:
        f"{RESULTS}/logs/train_vectors/{{vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_vectors/{{vectors}}.jsonl"
    wildcard_constraints:
        vectors=one_of(name for name in CONFIG.vectors if CONFIG.vectors[name].train_on),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        code=code_of("train_vectors"),
        dim=lambda wildcards: CONFIG.vectors[wildcards.vectors].dim,
        epochs=lambda wildcards: CONFIG.vectors[wildcards.vectors].epochs,
        min_count=lambda wildcards: CONFIG.vectors[wildcards.vectors].min_count,
        lowercase=lambda wildcards: lowercase_of_vectors(wildcards.vectors),
    script:
        "../workflow_scripts/train_vectors.py"


rule select_vectors:
    """Keep the vectors of the words that a data set uses."""
    input:
        unpack(vectors_inputs),
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
        code=code_of("select_vectors"),
        origin=lambda wildcards: vectors_origin(wildcards.vectors),
        out_of_vocabulary=lambda wildcards: CONFIG.vectors_at(wildcards.vectors).out_of_vocabulary,
        lowercase=lambda wildcards: lowercase_of_vectors(wildcards.vectors),
        configured=lambda wildcards: configured_vectors(CONFIG, wildcards.vectors),
    script:
        "../workflow_scripts/select_vectors.py"


rule train_infersent:
    """Train InferSent on natural language inference."""
    input:
        train=lambda wildcards: AVAILABLE.sentence_vectors[wildcards.sentence_vectors]["train_on"],
        dev=lambda wildcards: AVAILABLE.sentence_vectors[wildcards.sentence_vectors]["dev_on"],
        vectors=lambda wildcards: vectors_file(vectors_of(wildcards.sentence_vectors)),
        sources=lambda wildcards: records_of_sources(inference_files(wildcards.sentence_vectors)),
    output:
        weights=f"{RESULTS}/sentence_vectors/trained/{{sentence_vectors}}.pt",
        record=f"{RESULTS}/sentence_vectors/trained/{{sentence_vectors}}.json",
    log:
        f"{RESULTS}/logs/train_infersent/{{sentence_vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_infersent/{{sentence_vectors}}.jsonl"
    # The longest of the jobs that others wait for.
    priority: 1
    conda:
        "../envs/gpu.yaml"
    threads: 1
    resources:
        mem_mb=growing(8000),
        runtime=growing(720),
        gpu=GPUS,
    params:
        code=code_of("train_infersent"),
        seed=CONFIG.seeds[0],
        lstm_dim=lambda wildcards: CONFIG.sentence_vectors[wildcards.sentence_vectors].lstm_dim,
        lowercase=lambda wildcards: lowercase_of_sentences(wildcards.sentence_vectors),
    script:
        "../workflow_scripts/train_infersent.py"


rule encode_sentences:
    """Encode the sentences of a data set that are ranked or are prototypes, each once."""
    input:
        unpack(encoder_inputs),
        corpus=f"{RESULTS}/corpora/{{corpus}}.parquet",
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
        code=lambda wildcards: code_of(
            "encode_sentences", pretrained_module(wildcards.sentence_vectors)
        ),
        encoder=lambda wildcards: CONFIG.sentence_vectors[wildcards.sentence_vectors].encoder,
        options=lambda wildcards: CONFIG.sentence_vectors[wildcards.sentence_vectors].options,
        typed_only=typed_only,
        name=lambda wildcards: name_of_weights(wildcards.sentence_vectors),
        origin=lambda wildcards: sentence_vectors_origin(wildcards.sentence_vectors),
        lowercase=lambda wildcards: lowercase_of_sentences(wildcards.sentence_vectors),
        configured=lambda wildcards: configured_sentences(CONFIG, wildcards.sentence_vectors),
    script:
        "../workflow_scripts/encode_sentences.py"
