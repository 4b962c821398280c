"""A run: its study, state, records, engine, source of participants, cluster and progress."""
