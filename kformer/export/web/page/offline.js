"use strict";
// Keeps the page for when there is no network, by way of service-worker.js.
//
// Browsers allow that over TLS, and from localhost; elsewhere the page just needs its server.

const storage = location.protocol === "file:" ? undefined : navigator.serviceWorker;

/** Has the browser keep all files of the page; returns whether it now works offline. */
async function keepForOffline() {
  if (!storage) return false;
  const registration = await storage.register("service-worker.js");
  registration.addEventListener("updatefound", () => useWhenStored(registration.installing));
  if (registration.waiting) useWhenStored(registration.waiting);
  return reached(registration.active ?? registration.installing, ["activated", "redundant"]);
}

/** Has the next load use a newer version; this page has loaded all that it needs of its own. */
async function useWhenStored(worker) {
  if (await reached(worker, ["installed", "redundant"])) worker.postMessage("activate");
}

/** Waits until a service worker has one of two states; returns whether it is the first. */
function reached(worker, states) {
  return new Promise((resolve) => {
    const look = () => {
      if (states.includes(worker.state)) resolve(worker.state === states[0]);
    };
    worker.addEventListener("statechange", look);
    look();
  });
}
