"""What can be predicted without psychology, and how much of it a theory predicts."""
