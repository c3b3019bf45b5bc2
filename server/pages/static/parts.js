// Parts of a page: from the HTML that the host made, escaped, to elements. This is the one place where a string
// becomes markup, under the only policy that the page allows. Scripts in that markup do not run.

import { local } from "./times.js";

const allow = (html) => html;
const policy = window.trustedTypes?.createPolicy("parts", { createHTML: allow }) ?? { createHTML: allow };

/** The document that some HTML describes. */
export function whole(html) {
  return new DOMParser().parseFromString(policy.createHTML(html), "text/html");
}

/** The nodes that some HTML describes. */
export function nodes(html) {
  const parsed = whole(html);
  local(parsed);
  return [...parsed.body.childNodes].map((node) => document.importNode(node, true));
}

/** Show a part at its place; what had the focus there keeps it. */
export function show(place, html) {
  const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const scrolled = [...place.querySelectorAll(".wide")].map((each) => each.scrollLeft);
  place.replaceChildren(...nodes(html));
  place.querySelectorAll(".wide").forEach((each, n) => { each.scrollLeft = scrolled[n] ?? 0; });
  if (focused !== null) {
    [...place.querySelectorAll("a")].find((each) => each.getAttribute("href") === focused)?.focus({ preventScroll: true });
  }
}
