"""Recognition and detection with confidence."""
