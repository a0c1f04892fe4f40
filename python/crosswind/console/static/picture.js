// The picture of the network: the width of a line shows how much of it is in use, red that it drops packets.

import { drawn } from "./drawn.js";
import { IDLE, used } from "./model.js";

const DROPS_SHOWN = 5; // Steps for which a link stays red.
// Room for a badge on a host at the edge.
const MARGIN_PX = 13;
// Marks of a node that is hit, around the middle of a badge of this radius.
const BADGE_PX = 8.5;
const BADGES = {
  paused: "M-2.6,-3.6 V3.6 M2.6,-3.6 V3.6",
  killed: "M-3.2,-3.2 L3.2,3.2 M3.2,-3.2 L-3.2,3.2",
  squeezed: "M-5,-3.2 L-1.6,0 L-5,3.2 M5,-3.2 L1.6,0 L5,3.2",
  "on a bad disk": "M-4,-2.4 H4 M-4,2.4 H4 M-4,-2.4 V2.4 M4,-2.4 V2.4",
};

export class Picture {
  /** `chosen` is called with the names of the links, or the host, that the user clicks on. */
  constructor(root, drawing, chosen) {
    root.replaceChildren(document.importNode(new DOMParser().parseFromString(drawing, "image/svg+xml").documentElement, true));
    this.parts = [...root.querySelectorAll("[data-links]")].map((element) => ({
      element, links: element.dataset.links.split(" "),
    }));
    this.badges = new Map(); // By the box of a host.
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
    svg.setAttribute("viewBox", `${x - MARGIN_PX} ${y - MARGIN_PX} ${width + 2 * MARGIN_PX} ${height + 2 * MARGIN_PX}`);
    svg.setAttribute("width", 1.35 * (width + 2 * MARGIN_PX));
    svg.removeAttribute("height");
  }

  /** Shows which hosts have nodes that are cut off from others, paused, killed, squeezed or on a bad disk. */
  broken(faults, nodesOn) {
    for (const element of this.hosts) {
      const { host } = element.dataset;
      const nodes = nodesOn(host);
      const hit = nodes.map((node) => [node, faults.statesOf(node)]).filter(([, states]) => states.length);
      const states = Object.keys(BADGES).filter((state) => hit.some(([, has]) => has.includes(state)));
      element.classList.toggle("cut-off", nodes.some((node) => faults.isCutOff(node)));
      element.classList.toggle("killed", states.includes("killed"));
      const words = hit.map(([node, has]) => `${node} ${has.join(" and ")}`).join(", ");
      element.setAttribute("aria-label", `Show host ${host}${words && `: ${words}`}`);
      this.#badges(element, states);
    }
  }

  /** Badges on the upper right corner of a host, as wide a step apart as they are. */
  #badges(element, states) {
    const before = this.badges.get(element);
    if ((before?.dataset.states ?? "") === states.join(" ")) return;
    before?.remove();
    this.badges.delete(element);
    if (!states.length) return;
    const [x, y, width] = ["x", "y", "width"].map((name) => element[name].baseVal.value);
    const badges = drawn("g", { class: "badges", "data-states": states.join(" ") });
    states.forEach((state, number) => {
      const badge = drawn("g", { class: "badge", transform: `translate(${x + width - 3 - 2.3 * BADGE_PX * number} ${y - 3})` });
      badge.append(drawn("circle", { r: BADGE_PX }), drawn("path", { d: BADGES[state] }));
      badges.append(badge);
    });
    element.parentNode.append(badges);
    this.badges.set(element, badges);
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
