"""What scores say: summaries with their spread, tests, verdicts, and claims."""
