"""Game records: shown to a person, or judged. A record is all that is known here."""
