"""Questions whose question word is replaced (Tam et al. 2017)."""
