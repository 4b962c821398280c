"""The page on which people take part: what is asked of whom, where responses are kept, and the server that shows it."""
