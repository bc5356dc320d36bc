"""What several rooms need: the rules of the profiles, and how JavaScript and JSON Schema read a value. Reads files."""
