"""The library behind the pipeline. It knows nothing of Snakemake."""
