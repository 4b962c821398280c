"""Functions for notebooks and scripts; `import lakatos` offers all of them."""
