"""The stages of a cycle, one verb a file: each reads the state, calls one science function and records one step."""
