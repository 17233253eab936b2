"""The corpus tables.

needs: the files of the data sets' splits
makes: corpora/{dataset}.parquet
"""


rule build_corpus:
    """Read the splits of a data set into one table and type its questions."""
    input:
        unpack(lambda wildcards: SPLIT_FILES[wildcards.dataset]),
        sources=lambda wildcards: records_of_sources(SPLIT_FILES[wildcards.dataset].values()),
    output:
        f"{RESULTS}/corpora/{{dataset}}.parquet",
    log:
        f"{RESULTS}/logs/build_corpus/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_corpus/{{dataset}}.jsonl"
    conda:
        "../envs/cpu.yaml"
    params:
        reader=lambda wildcards: CONFIG.datasets[wildcards.dataset].reader,
        questions=lambda wildcards: CONFIG.datasets[wildcards.dataset].questions,
    script:
        "../workflow_scripts/build_corpus.py"
