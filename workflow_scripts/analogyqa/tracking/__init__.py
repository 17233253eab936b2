"""Run records in MLflow: the records are the truth, MLflow is a view of them."""
