"""The results for readers: tables, figures, pages and the report."""
