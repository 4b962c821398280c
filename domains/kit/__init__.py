"""Parts that several kinds of tasks share."""
