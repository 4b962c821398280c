"""How well theories predict, how differently they do, and what is left to find."""
