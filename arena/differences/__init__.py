"""Differences with intervals: of bots, versions, settings, runs and rules; no files but theirs."""
