"use strict";
// Says what the page needs where it is opened as a file: there browsers load no modules.

if (location.protocol === "file:") {
  const status = document.getElementById("status");
  status.dataset.state = "failed";
  status.textContent = "The translator could not be loaded";
  document.getElementById("progress").hidden = true;
  const failure = document.getElementById("failure");
  failure.textContent =
    "A page on its own file system may not start the translator. Serve this folder, for example by " +
    "python3 -m http.server, and open http://localhost:8000.";
  failure.hidden = false;
}
