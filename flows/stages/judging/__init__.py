"""Stages in which judges say which theory wins, take seats, and are challenged."""
