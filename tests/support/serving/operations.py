"""The operations that an exported graph may hold: a server must have every one of them.

Another one may be added if `tf.raw_ops` has it: then it is stock.
"""

import importlib.util
from pathlib import Path

OF_TENSORFLOW_TEXT = {
    "SentencepieceDetokenizeOp",
    "SentencepieceIdToStringOp",
    "SentencepieceOp",
    "SentencepieceTokenizeOp",
}
_STOCK = """
AddV2 All Any ArgMax Assert AssignVariableOp BatchMatMulV2 BiasAdd BroadcastTo Cast ConcatV2
Const Cos DisableCopyOnRead Empty EnsureShape Equal Exp ExpandDims Fill FloorDiv FloorMod
GatherNd GatherV2 Greater GreaterEqual Identity If InplaceUpdate IsFinite Less LessEqual Log
LogicalAnd LogicalNot LogicalOr LowerBound MatMul Max Maximum Mean MergeV2Checkpoints Min
Minimum Mul Neg NoOp NotEqual OnesLike Pack Pad PadV2 PartitionedCall Placeholder
PlaceholderWithDefault Pow Prod RaggedGather RaggedRange RaggedTensorToTensor Range
ReadVariableOp RealDiv Relu Reshape RestoreV2 Roll Rsqrt SaveV2 Select SelectV2 Shape
ShardedFilename Sin Size Slice Softmax Split Square SquaredDifference Squeeze
StatefulPartitionedCall StatelessIf StatelessWhile StaticRegexFullMatch StaticRegexReplace
StopGradient StridedSlice StringJoin StringLength Sub Substr Sum TensorListConcatV2
TensorListReserve TensorListSetItem TensorScatterUpdate Tile TopKV2 Transpose
UnicodeTranscode Unpack VarHandleOp Where While
"""
STOCK = {*_STOCK.split()}


def sentencepiece_library():
    """The part of tensorflow-text that a server links."""
    package = Path(importlib.util.find_spec("tensorflow_text").origin).parent
    [path] = package.rglob("_sentencepiece_tokenizer.so")
    return path
