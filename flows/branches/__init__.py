"""Causes of a run's outcome: rewinding, counterfactual branches and their exact tests."""
