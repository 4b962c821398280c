"""Choice between amounts of money at different times."""
