"""Choice between products rated by experts."""
