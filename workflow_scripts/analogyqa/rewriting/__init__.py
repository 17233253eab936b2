"""Other texts in the place of a corpus's own: with the question word replaced (Tam et al. 2017), or
lemmas."""
