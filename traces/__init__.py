"""Record of what happened: the journal of a run, its steps and artifacts, and their audit. Start with `journal.py`."""

from lakatos.traces.threads import use_one_thread

use_one_thread()  # here, since every other package that computes imports this one
