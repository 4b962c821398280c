"""Knowledge as text and as tools; can be deleted and rebuilt from the traces. Open `library.py` first."""
