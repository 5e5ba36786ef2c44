"""Never comes to the end of its import."""

while True:
    pass
