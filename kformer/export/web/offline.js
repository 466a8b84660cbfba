// Stores the page for offline use, with service-worker.js.
//
// Browsers allow that over TLS and from localhost; elsewhere the page needs its server.

import { hasRelaxedSimd } from "./relaxed-simd.js";

const storage = location.protocol === "file:" ? undefined : navigator.serviceWorker;

/** Stores all files of the page in the browser; returns whether it now works offline. */
export async function keepForOffline() {
  if (!storage) return false;
  const build = hasRelaxedSimd() ? "relaxed-simd" : "compat";
  const registration = await storage.register(`service-worker.js?build=${build}`);
  registration.addEventListener("updatefound", () => useWhenStored(registration.installing));
  if (registration.waiting) useWhenStored(registration.waiting);
  return reached(registration.active ?? registration.installing, ["activated", "redundant"]);
}

/** Activates a newer version for the next load; this page has loaded all that it needs. */
async function useWhenStored(worker) {
  if (await reached(worker, ["installed", "redundant"])) worker.postMessage("activate");
}

/** Waits until a service worker reaches one of two states; returns whether it is the first. */
function reached(worker, states) {
  return new Promise((resolve) => {
    const look = () => {
      if (states.includes(worker.state)) resolve(worker.state === states[0]);
    };
    worker.addEventListener("statechange", look);
    look();
  });
}
