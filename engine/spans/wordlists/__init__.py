"""Which words of a language negate, cancel, bind or soften a rule? One JSON file a language; a new file is enough."""
