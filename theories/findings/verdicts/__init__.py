"""What a verdict rests on: advantages, company, sensitivity, truth, words. Open `conclude.py` first."""
