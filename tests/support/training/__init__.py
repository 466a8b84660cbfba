"""Training in processes of their own, to compare with training in this one."""
