"""Data of this kind of task, one reader for each data set."""
