"""What did a payload say, in the few numbers that readers of it need once it has left?"""
