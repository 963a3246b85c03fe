"""Printers of the PaddlePaddle family."""
