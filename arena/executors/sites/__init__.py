"""Sites: crews on other machines. Each is a program of its own (`arena.executors.site`)."""
