"""Prototypes and quadruples of question-answer pairs, and analogies between sentence pairs."""
