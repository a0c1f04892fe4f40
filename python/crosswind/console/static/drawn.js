// Parts of drawings.

// The name of drawings' own elements, from one: an address in this file might be taken for one that is loaded.
const DRAWING = new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg").namespaceURI;

/** A part of a drawing. */
export function drawn(tag, attributes) {
  const found = document.createElementNS(DRAWING, tag);
  for (const [name, value] of Object.entries(attributes)) found.setAttribute(name, value);
  return found;
}
