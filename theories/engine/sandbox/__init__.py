"""The sandbox, the only place in which theory programs run. Open `client.py` first: it is the laboratory's side.

`client` starts (`process`) and talks to `zygote`, a fresh process that holds NumPy and nothing of ours, which forks a
child per theory; the child gives up its rights (`layers`) before it reads the theory. `wire` is the form of their
messages, `lint` gives authors early and clear messages and protects nothing, `doctor` says what works on this machine.
"""
