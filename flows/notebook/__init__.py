"""What people call from a notebook or a script; `import lakatos` has all of it."""
