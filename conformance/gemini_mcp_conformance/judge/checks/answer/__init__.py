"""What a call is answered with, and where the session comes from. Pure."""
