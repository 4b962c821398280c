"""Roles that a language model can take: arbiter, reviser, advocate, claim auditor. Open `role.py` first."""
