"""From trials that could be asked to a design: which trials, how many people, and what simulation says of both."""
