"""Weights and tables go around the converter, which would hold each of them many times.

The graphs are traced and converted with stand-ins, operations without content. Afterwards the
arrays are put in their places, and the optimizations of constants that the converter makes are
made here.

- `conversion`: `convert`, from functions to a model; puts the arrays in, computes all that depends
  on constants alone, and gives loops and branches the constants that they were passed.
- `stand_ins`: operations that stand for arrays, and the arrays.
- `products`: products with constant matrices, with their biases, as one operation.
- `int8_weights`: the matrices of products in int8.
- `beginnings`: tables that are the beginning of a longer one.
- `model_metadata`: the name, version and licence of the file, for other tools.
- `flatbuffer`: the file, its buffers and its operators, without unused parts.
"""
