"""The results for readers: the ledger, claims, tables, figures and the report."""
