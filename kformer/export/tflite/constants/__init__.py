"""Weights and tables go around the converter, which would hold each of them many times.

The graphs are traced and converted with stand-ins, operations without content. Afterwards the
arrays are put in their places, and what the converter does with constants is done here.

- `conversion`: `convert`, from functions to a model.
- `stand_ins`: operations that stand for arrays, and the arrays.
- `folding`: puts the arrays in, and computes what depends on constants alone.
- `sinking`: gives loops and branches the constants that they were passed.
- `products`: products with constant matrices, with their biases, as one operation.
- `beginnings`: tables that are the beginning of a longer one.
- `int8_weights`: those matrices in int8.
- `operators`: the list of operators that a model uses.
- `buffers`: arrays in the buffers of a model.
"""
