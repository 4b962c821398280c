"""One-shot games of two players."""
