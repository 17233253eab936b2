"""What a reader opens."""
