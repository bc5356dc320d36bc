"""The conformance suite: tells any implementation, in any language, whether it obeys the specification."""
