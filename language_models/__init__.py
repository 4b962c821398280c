"""Access to language models through the OpenAI protocol. Open `client.py` first."""
