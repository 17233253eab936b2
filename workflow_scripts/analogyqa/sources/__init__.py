"""The downloads: registered, fetched, verified."""
