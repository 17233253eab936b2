"""What several tests build: inputs, settings, finished results, projects, servers."""
