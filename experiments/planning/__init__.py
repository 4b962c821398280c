"""Choose a design from possible trials: its trials, the number of participants, and the simulated power."""
