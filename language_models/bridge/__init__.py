"""A server without a model: questions become files in a folder, and whoever can write files answers them."""
