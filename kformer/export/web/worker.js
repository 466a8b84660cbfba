// The worker for browsers with relaxed SIMD.

import createModule from "./litert/litert_wasm_internal.js";
import { answerMessages } from "./litert-worker.js";

answerMessages(createModule, new URL("./litert/litert_wasm_internal.wasm", import.meta.url));
