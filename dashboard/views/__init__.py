"""One page each: read the address, load, frame, draw."""
