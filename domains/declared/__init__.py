"""Tasks that a researcher defines in a file."""
