"""The library behind the pipeline. It does not import Snakemake."""
