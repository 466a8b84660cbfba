"""A client of TensorFlow Serving for SavedModels of `kformer.export`, over REST or gRPC.

- `client`: `Client`, the requests that a server answers. `answers`: its answers.
- `server_engine`: translations that the server finds.
- `address`: the address of a server. `request_rows`: texts as the rows of requests.
- `rest`, `connection`: requests over HTTP. `rpc`: requests over gRPC.
- `deadline`: an end to the time that a request may take, retries included.
- `errors`: `ServerError`, and text of a server made safe for a terminal.

Over REST, `Client` needs neither TensorFlow nor Keras.
"""

from kformer import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
