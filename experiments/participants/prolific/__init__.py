"""People recruited through Prolific: the plan, the books, what to do next, and a stand-in for the service."""
