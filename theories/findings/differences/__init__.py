"""Differences between people by what is known of them: groups and effects, the test that decides, and its power."""
