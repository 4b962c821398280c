"""Vocabularies of domains, in which induction words its rules: scores of options, and lists that more are made of."""
