"""Tools, from the name and schema that the model gets to the call and its content. Effect, but only in `execution`."""
