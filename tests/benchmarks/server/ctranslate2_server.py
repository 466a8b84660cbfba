"""A minimal server of CTranslate2, as its users write one.

    python -m benchmarks.server.ctranslate2_server FOLDER PATH

It answers requests of TensorFlow Serving for one text, each alone, in as many threads as cores. It
checks nothing, has no limits and batches nothing.
"""

import asyncio
import os
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import ctranslate2
import sentencepiece
import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route


class Translator:
    """The model in a folder of CTranslate2, with its SentencePiece models."""

    def __init__(self, folder: str, cores: int):
        self._source, self._target = (
            sentencepiece.SentencePieceProcessor(model_file=f"{folder}/{side}.spm")
            for side in ("source", "target")
        )
        self._model = ctranslate2.Translator(folder, inter_threads=cores, intra_threads=1)

    def translate(self, text: str) -> str:
        """Returns the translation of a text, greedily."""
        pieces = self._source.id_to_piece(self._source.encode(text))
        most = len(pieces) + 51
        [result] = self._model.translate_batch([pieces], beam_size=1, max_decoding_length=most)
        return self._target.decode(self._target.piece_to_id(result.hypotheses[0]))


def main():
    folder, path = sys.argv[1:]
    cores = os.cpu_count()
    translator, threads = Translator(folder, cores), ThreadPoolExecutor(cores)

    async def predict(request):
        fields = await request.json()
        loop = asyncio.get_running_loop()
        text = await loop.run_in_executor(threads, translator.translate, fields["instances"][0])
        return JSONResponse({"predictions": [{"translation": text}]})

    app = Starlette(routes=[Route(path, predict, methods=["POST"])])
    tcp = socket.SOCK_STREAM, socket.IPPROTO_TCP  # So that asyncio sends small answers at once.
    with socket.socket(socket.AF_INET, *tcp) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(2048)
        print(f"Serving at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        config = uvicorn.Config(app, log_level="error", access_log=False)
        uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    main()
