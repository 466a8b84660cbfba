"""Operators in a model's list of those that it uses."""

from ai_edge_litert import schema_py_generated as schema


def operator_code(model, builtin: int, version: int = 1) -> int:
    """Returns the place of an operator in the model's list; adds it if it is missing.

    Args:
        model: `schema.ModelT`.
        builtin: One of `schema.BuiltinOperator`.
        version: The least that is needed.
    """
    for index, code in enumerate(model.operatorCodes):
        if code.builtinCode == builtin:
            code.version = max(code.version, version)
            return index
    code = schema.OperatorCodeT()
    code.deprecatedBuiltinCode = code.builtinCode = builtin
    code.version = version
    model.operatorCodes.append(code)
    return len(model.operatorCodes) - 1
