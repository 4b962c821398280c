"""What was learned, as text; can be deleted and rebuilt from the traces. Open `library.py` first."""
