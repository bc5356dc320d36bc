"""Settings files, from their text to the configuration of each server. Pure, but for `files`, which is an effect."""
