"""Local models, served by vLLM in an environment and a process of its own. Open `profile.py` first.

Nothing here imports vLLM: its pins exclude those of the laboratory. It is installed by a lock of its own
(`environment.py`), started from a profile (`launch.py`, `server.py`) and known by what it answers (`check.py`).
"""
