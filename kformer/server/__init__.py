"""A server of translators over HTTP, for any saved form: `kformer serve`.

- `application`: `create_app`, the ASGI application, and `RequestLimits` of what a request may ask.
- `hosted_files`: `host`, which finds saved forms and their changes. `model_memory`: which of them
  are loaded. `hosted_models`: the models of a server, by name and by pair of languages.
  `hosted_routes`: what two of them reach one behind the other.
- `batcher`: the queue in which sentences of many requests are translated together.
- `hosted_documents`: files and texts with markup, by these models. `document_workers`,
  `document_process`: the processes that translate files. `translated_files`: files that wait for
  their clients.
- `libre_translate`, `openai_style`, `predict_api`: the protocols of LibreTranslate, of OpenAI's
  style, and of TensorFlow Serving. `hosted_signatures`: a model's answers in the last one.
- `source_detection`: the language of texts that come without one. `suggestions`: translations that
  people suggest.
- `endpoint`: an address with its method and its key, and whose requests it takes.
- `http_protocol`, `request_bodies`, `arriving_bodies`: bounded reading of requests. `refusals`:
  errors of a request.
- `server_page`: the web page. `server_metrics`: metrics for Prometheus, and a log without texts.
- `openapi`: the description of the whole.

For `.tflite` files it needs neither TensorFlow nor Keras.
"""

from kformer import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, __file__)
