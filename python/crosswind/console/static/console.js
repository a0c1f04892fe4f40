// The page: which of its kinds it is, the server says.

import { get } from "./api.js";
import { fingerprint } from "./fingerprint.js";
import { replay } from "./replay.js";
import { run } from "./run.js";
import { up } from "./up.js";
import { at, problem, state } from "./view.js";

const KINDS = { up, run, fingerprint, replay };

async function start() {
  if (!window.uPlot) throw new Error("The charts' library is missing from this installation: run make build.");
  const page = await get("/api/page");
  at("title").textContent = page.network?.title ?? "an existing network";
  for (const part of document.querySelectorAll("[data-of]")) part.hidden = !part.dataset.of.split(" ").includes(page.kind);
  await KINDS[page.kind](page);
}

start().catch((error) => {
  state("not connected", "gone");
  problem(error instanceof TypeError ? "The network has ended, or this machine is out of reach. Reload the page when it is up again." : error.message);
});
