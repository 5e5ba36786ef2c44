"""Completion."""


def complete_bots(*a):
    return []


def complete_configs(*a):
    return []


def complete_runs(*a):
    return []
