"""Tools, from the name and schema the model gets to the call and its content. Only `execution` is an effect."""
