"""Choice among several offers."""
