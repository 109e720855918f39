"""Deterministic samples, each with its inputs and expected verdict."""
