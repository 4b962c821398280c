"""Perceptual decisions with response times."""
