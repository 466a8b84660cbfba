"""Answers texts with a `.tflite` file in whatever runtime is found: python answer_... FILE < TEXTS.

TEXTS is JSON, a list of byte strings in hexadecimal, and so is what is printed: where the runtime
is, and a row for each text, as `answer` returns it. It is run by itself, with NumPy alone.
"""

import json
import sys

import numpy as np


def answer(translate, text):
    """Returns the bytes that come out, the score and what is truncated.

    Args:
        translate: Signature runner, of whichever interpreter.
        text: Bytes, of which only so many are read as the file takes.
    """
    [room] = translate.get_input_details()["source"]["shape"]
    source = np.frombuffer(text[:room], np.uint8)
    said = translate(source=np.pad(source, (0, room - len(source))))
    translation = said["translation"].tobytes().rstrip(b"\0")
    return translation, float(said["score"][0]), int(said["truncated"][0] | (len(text) > room))


def main():
    from ai_edge_litert import interpreter

    translate = interpreter.Interpreter(sys.argv[1]).get_signature_runner("translate")
    rows = [answer(translate, bytes.fromhex(text)) for text in json.load(sys.stdin)]
    rows = [(said.hex(), score, truncated) for said, score, truncated in rows]
    print(json.dumps([interpreter.__file__, rows]))


if __name__ == "__main__":
    main()
