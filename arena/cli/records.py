"""Records."""
COMMANDS=[]
