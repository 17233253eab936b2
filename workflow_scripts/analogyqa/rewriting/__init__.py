"""Rewrite the texts of a corpus: replace question words (Tam et al. 2017), or lemmatise."""
