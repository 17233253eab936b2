"""What a training makes small."""
