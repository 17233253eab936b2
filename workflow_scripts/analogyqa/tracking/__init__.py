"""Show run records in MLflow, which can be rebuilt from them at any time."""
