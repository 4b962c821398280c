"""Which of two sequences looks more random."""
