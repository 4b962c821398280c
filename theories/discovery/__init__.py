"""Where new theories come from: search, induction, diagnosis and the rivals to tell apart."""
