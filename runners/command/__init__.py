"""From a case to what a node executes: the trainer's words, its launcher, its container, and the script around them."""
