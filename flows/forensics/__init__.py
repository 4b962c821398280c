"""What made a run come out as it did: counterfactual branches, compared by exact tests."""
