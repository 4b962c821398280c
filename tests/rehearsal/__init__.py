"""A server that speaks the OpenAI protocol as vLLM does, writes nonsense, and misbehaves on request.

No model is behind it: it stands in for one where protocol, load and failures are to be tried. Open `app.py` first;
``python -m tests.rehearsal --port 8000`` starts it, `serve.running` runs it beside a test.
"""
