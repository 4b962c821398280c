"""Tables of words: how each mechanism is told at the numbers that were learned, and what its company is called."""
