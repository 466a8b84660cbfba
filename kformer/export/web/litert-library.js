// Gives LiteRT.js its build in WebAssembly, in place of the npm package @litertjs/wasm-utils.
//
// That package loads the build as a classic script, which no worker that is a module can do, and no
// bundler follows. Here the build is imported as a module, and its code comes compiled.

let prepared = null;

/**
 * Loads a build for the next `loadLiteRt` of LiteRT.js.
 * @param {function} createModule The default export of the build's script.
 * @param {WebAssembly.Module} code Of the build.
 * @param {function(string)} onLine Receives each line that the build logs as an error.
 */
export async function prepareLibrary(createModule, code, onLine) {
  prepared = await createModule({
    locateFile: (name) => name,
    printErr: onLine,
    instantiateWasm(imports, receive) {
      WebAssembly.instantiate(code, imports).then((instance) => receive(instance, code));
    },
  });
}

/** Called by LiteRT.js, which names its script and needs the one that is prepared. */
export async function createWasmLib(LiteRt) {
  return new LiteRt(prepared);
}
