"use strict";
// Keeps the page for when there is no network, by way of service-worker.js.
//
// Browsers allow that over TLS, and from localhost; elsewhere the page just needs its server.

const storage = location.protocol === "file:" ? undefined : navigator.serviceWorker;

/**
 * Turns to a newer version of the page that the browser has fetched whole, before any of the old
 * one is used. Returns whether the page is about to load again.
 */
async function turnToNewest() {
  const waiting = (await storage?.getRegistration())?.waiting;
  if (!waiting) return false;
  storage.addEventListener("controllerchange", () => location.reload(), { once: true });
  waiting.postMessage("activate");
  return true;
}

/** Has the browser keep all files of the page; returns whether it now works offline. */
async function keepForOffline() {
  if (!storage) return false;
  const registration = await storage.register("service-worker.js");
  const newest = registration.installing ?? registration.waiting ?? registration.active;
  await new Promise((resolve) => {
    const look = () => {
      if (["installed", "activated", "redundant"].includes(newest.state)) resolve();
    };
    newest.addEventListener("statechange", look);
    look();
  });
  return newest.state !== "redundant";
}
