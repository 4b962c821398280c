"""Public goods games with punishment and reward."""
