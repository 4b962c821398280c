"""What the data show: verdicts, differences between participants, transfer, generic learners and exchange."""
