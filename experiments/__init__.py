"""Studies run on people: tasks, designs, participants, trials. Open `task.py` first."""
