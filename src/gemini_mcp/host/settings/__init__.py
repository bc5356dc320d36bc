"""Settings files, from their text to the configuration of each server. Effect, but only in `files`."""
