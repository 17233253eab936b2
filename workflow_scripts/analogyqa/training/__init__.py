"""Train encoders and rankers, and score candidates with them."""
