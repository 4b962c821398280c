"""Whether a run can be believed: its chain, its order, every number computed again, bundles for others."""
