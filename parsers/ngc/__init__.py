"""Printers of NVIDIA's NGC DeepLearningExamples."""
