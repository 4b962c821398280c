"""What happened: the journal of a run, its steps and artifacts, and the audit of them. Start with ``journal.py``."""
