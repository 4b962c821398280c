"""What made a run come out as it did: rewinding, counterfactual branches and their exact tests."""
