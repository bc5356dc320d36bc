"""OAuth for remote servers: what is sent where, which tokens are kept, and the browser in between. Effect."""
