"""Choice between gambles."""
