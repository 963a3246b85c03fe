"""Raw logs in, figures and pages out: the only layer that touches the disk."""
