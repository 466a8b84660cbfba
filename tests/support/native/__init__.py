"""Programs in C++, other versions of LiteRT, and an emulated Arm processor."""
