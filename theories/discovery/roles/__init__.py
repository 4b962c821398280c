"""Roles that a language model can take: arbiter, reviser, advocate, claim auditor, reflector. Open `role.py` first."""
