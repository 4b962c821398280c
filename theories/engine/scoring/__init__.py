"""Quality of theories' predictions, the differences between theories, and what is left to find."""
