// Parts of a page: from the HTML that the host made, escaped, to elements. This is the one place where a string
// becomes markup, under the only policy that the page allows. Scripts in that markup do not run.

import { local } from "./times.js";

const SCROLLED = ".wide, .causes";

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

const standing = new WeakMap(); // by place: the number of what was put there
let given = 0;

/** Put HTML at a place, once its pictures have come: until then they are blank, and what stands there is not. */
export async function put(place, html, replace = (fresh) => place.replaceChildren(...fresh)) {
  const number = given += 1;
  const fresh = nodes(html);
  const pictures = fresh.flatMap((each) => (each.matches?.("img") ? each : [...(each.querySelectorAll?.("img") ?? [])]));
  if (pictures.length) await Promise.allSettled(pictures.map((each) => each.decode()));
  if (number < standing.get(place)) return; // something later is there already
  standing.set(place, number);
  replace(fresh);
}

/** The elements of a place that are what one of them is; the link to a bot may be in many rows. */
function alike(place, one) {
  const marks = ["href", "aria-label"];
  return [...place.querySelectorAll(one.localName)].filter((each) => marks.every((mark) => each.getAttribute(mark) === one.getAttribute(mark)));
}

/** Show a part at its place; what had the focus there keeps it, and what was scrolled stays so. */
export function show(place, html) {
  put(place, html, (fresh) => {
    const focused = document.activeElement;
    const number = alike(place, focused).indexOf(focused);
    const scrolled = [...place.querySelectorAll(SCROLLED)].map((each) => [each.scrollLeft, each.scrollTop]);
    place.replaceChildren(...fresh);
    place.querySelectorAll(SCROLLED).forEach((each, n) => { [each.scrollLeft, each.scrollTop] = scrolled[n] ?? [0, 0]; });
    if (number >= 0) {
      const found = alike(place, focused);
      (found[number] ?? found.at(-1))?.focus({ preventScroll: true });
    }
  });
}
