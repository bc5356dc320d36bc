"""OAuth for remote servers: finds where to authorize, gets tokens with a browser, keeps and renews them. Effect."""
