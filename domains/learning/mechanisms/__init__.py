"""Mechanisms that theories of this kind of task are made of."""
