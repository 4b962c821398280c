"""Lakatos: a laboratory in which rival theories of human behaviour compete."""
