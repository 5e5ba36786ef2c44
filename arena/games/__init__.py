"""Play one game between two players, each in its lane. Which game it is, is decided above."""
