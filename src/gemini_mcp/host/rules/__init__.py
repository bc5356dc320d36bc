"""What every room asks for an answer: the rules of the profiles, and how JavaScript reads a value or a URL. Pure."""
