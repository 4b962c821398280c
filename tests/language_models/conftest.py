"""Settings that all tests of language models share."""

from hypothesis import settings

# The first example of a test also pays for imports, so how long an example takes says nothing about the code.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
