"""Systems that are not here: a Python from which is hidden what only POSIX or Linux has."""
