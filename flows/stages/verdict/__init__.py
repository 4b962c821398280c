"""Stages that end a campaign: confirmation, comparison with learners and the truth, and the verdict."""
