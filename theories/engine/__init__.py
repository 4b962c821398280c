"""Engine in which theories run: the sandbox, predictions, fits, scores and the checks that a program must pass."""
