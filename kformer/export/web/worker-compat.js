// The worker for browsers without relaxed SIMD.

import createModule from "./litert/litert_wasm_compat_internal.js";
import { answerMessages } from "./litert-worker.js";

answerMessages(createModule, new URL("./litert/litert_wasm_compat_internal.wasm", import.meta.url));
