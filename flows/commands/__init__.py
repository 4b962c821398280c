"""The command line, one file for each `lakatos NAME`; `main` mounts them."""
