"""Items of anchor sets whose outcome is known: simulated people, edits by lot, and what searches submit."""
