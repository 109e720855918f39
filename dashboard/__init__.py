"""What does the user see and decide on? The screen over the engine; it decides nothing itself."""
