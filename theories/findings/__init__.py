"""Findings from the data: verdicts, differences between participants, transfer, generic learners and exchange."""
