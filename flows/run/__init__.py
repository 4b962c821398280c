"""What a run is and has: its study, state, records, engine, source of people, cluster and progress."""
