"""Register, fetch and verify downloads."""
