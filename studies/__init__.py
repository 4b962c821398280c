"""Study files that a user can run."""
