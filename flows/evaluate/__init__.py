"""How well a run was conducted, and how well models and strategies do in recorded situations."""
