"""A person at the table: shown what a View holds, asked for an action, and recorded."""
