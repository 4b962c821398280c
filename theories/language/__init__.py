"""Language of theories: their text, their priors, the grammar that composes them, and their claims."""
