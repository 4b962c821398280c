"""A run in the forms that others read: repositories, collectors, evaluation logs, training, and documents."""
