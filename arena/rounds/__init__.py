"""Which pairs a run plays next: decided at barriers, from the games in its store and no others."""
