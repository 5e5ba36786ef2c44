"""The probe of a bot: an opponent that knows how it plays, or a clone that does."""
