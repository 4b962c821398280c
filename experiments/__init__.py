"""Studies run on people: tasks, designs, participants, trials. Open `task.py` first."""

import lakatos.traces.threads  # noqa: F401  # linear algebra on one thread, whatever is imported first
