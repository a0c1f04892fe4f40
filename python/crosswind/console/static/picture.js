// The picture of the network: the width of a line shows how much of it is in use, red that it drops packets.

import { IDLE, used } from "./model.js";

const DROPS_SHOWN = 5; // Steps for which a link stays red.

export class Picture {
  /** `chosen` is called with the names of the links, or the host, that the user clicks on. */
  constructor(root, drawing, chosen) {
    root.replaceChildren(document.importNode(new DOMParser().parseFromString(drawing, "image/svg+xml").documentElement, true));
    this.parts = [...root.querySelectorAll("[data-links]")].map((element) => ({
      element, links: element.dataset.links.split(" "),
    }));
    this.hosts = [...root.querySelectorAll("[data-host]")];
    for (const { element, links } of this.parts) {
      const hit = element.cloneNode(true);
      if (element.tagName === "line") {
        hit.setAttribute("class", "hit");
        delete hit.dataset.links;
        element.after(hit);
      }
      button(element.tagName === "line" ? hit : element, `Show ${links.join(" and ").replaceAll("->", " to ")}`, () => chosen({ links }));
    }
    for (const element of this.hosts) {
      const { host } = element.dataset;
      button(element, `Show host ${host}`, () => chosen({ host }));
    }
    const svg = root.querySelector("svg");
    // An image would have no parts that can be pressed.
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", "Hosts, switches and links");
    this.#crop(svg);
    // Words on a box would take its clicks.
    root.querySelectorAll("text").forEach((text) => text.setAttribute("pointer-events", "none"));
  }

  /** The page has the title of its own: without it the picture is smaller. */
  #crop(svg) {
    const { x, y, width, height } = svg.getBBox();
    svg.setAttribute("viewBox", `${x - 8} ${y - 8} ${width + 16} ${height + 16}`);
    svg.setAttribute("width", 1.35 * (width + 16));
    svg.removeAttribute("height");
  }

  /** Shows which hosts have nodes that are cut off from others. */
  cutOff(isCutOff) {
    for (const host of this.hosts) host.classList.toggle("cut-off", isCutOff(host.dataset.host));
  }

  mark(place) {
    const links = new Set(place.on === null ? [] : place.links);
    for (const part of this.parts) part.element.classList.toggle("chosen", part.links.some((name) => links.has(name)));
    for (const host of this.hosts) host.classList.toggle("chosen", host.dataset.host === place.on);
  }

  /** Shows the last of some steps. */
  draw(steps) {
    const shown = steps.slice(-DROPS_SHOWN);
    for (const part of this.parts) {
      const at = part.links.map((name) => shown.at(-1).links.get(name) ?? IDLE);
      const share = Math.max(...at.map(used));
      const drops = part.links.some((name) => shown.some((step) => step.links.get(name)?.dropped));
      part.element.style.setProperty("--used", share.toFixed(3));
      part.element.classList.toggle("in-use", at.some(({ sent_bps }) => sent_bps));
      part.element.classList.toggle("dropping", drops);
    }
  }
}

/** Lets a part of the picture be pressed, also with the keyboard. */
function button(element, label, pressed) {
  element.setAttribute("role", "button");
  element.setAttribute("tabindex", "0");
  element.setAttribute("aria-label", label);
  element.addEventListener("click", pressed);
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    pressed();
  });
}
