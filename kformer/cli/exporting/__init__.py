"""What `kformer export` and `kformer demo` share: what to export, writing it, the comparison."""
