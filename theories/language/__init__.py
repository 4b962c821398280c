"""What a theory is: its text, its priors, the grammar that composes theories, and what a theory claims."""
