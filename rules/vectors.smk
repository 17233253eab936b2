"""The word vectors.

needs: corpora/*.parquet; a file of vectors, or texts to train them on
makes: vectors/{vectors}.npy with its .words.txt and .json, the words of the corpora only
"""


rule train_vectors:
    """Train fastText vectors on texts."""
    input:
        texts=lambda wildcards: VECTORS_FILES[wildcards.vectors],
        sources=lambda wildcards: records_of_sources(VECTORS_FILES[wildcards.vectors]),
    output:
        f"{RESULTS}/vectors/trained/{{vectors}}.bin",
    log:
        f"{RESULTS}/logs/train_vectors/{{vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/train_vectors/{{vectors}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    params:
        dim=lambda wildcards: CONFIG.vectors[wildcards.vectors].dim,
        epochs=lambda wildcards: CONFIG.vectors[wildcards.vectors].epochs,
        min_count=lambda wildcards: CONFIG.vectors[wildcards.vectors].min_count,
        lowercase=CONFIG.lowercase,
    script:
        "../workflow_scripts/train_vectors.py"


rule select_vectors:
    """Keep the vectors of the words that the corpora use."""
    input:
        corpora=CORPORA,
        vectors=lambda wildcards: vectors_file(wildcards.vectors),
        sources=lambda wildcards: records_of_sources([vectors_file(wildcards.vectors)]),
    output:
        vectors=f"{RESULTS}/vectors/{{vectors}}.npy",
        words=f"{RESULTS}/vectors/{{vectors}}.words.txt",
        record=f"{RESULTS}/vectors/{{vectors}}.json",
    log:
        f"{RESULTS}/logs/select_vectors/{{vectors}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/select_vectors/{{vectors}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=2000,
    params:
        origin=lambda wildcards: vectors_origin(wildcards.vectors),
        out_of_vocabulary=lambda wildcards: CONFIG.vectors[wildcards.vectors].out_of_vocabulary,
        lowercase=CONFIG.lowercase,
    script:
        "../workflow_scripts/select_vectors.py"
