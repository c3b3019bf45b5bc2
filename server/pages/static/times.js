// Times of the wall clock in the reader's zone. The host writes them in UTC, and that is what stands there
// without this script.

const SHAPES = { day: { dateStyle: "medium", timeStyle: "short" }, clock: { timeStyle: "medium" },
  moment: { dateStyle: "medium", timeStyle: "medium" } };

/** Show the times within an element or a document as the reader's clock has them; where the pointer is, in UTC. */
export function local(root) {
  for (const each of root.querySelectorAll("time[data-local]")) {
    const when = new Date(each.dateTime);
    if (Number.isNaN(when.getTime())) continue;
    each.title = each.dateTime.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");
    each.textContent = when.toLocaleString(undefined, SHAPES[each.dataset.local]);
    delete each.dataset.local;
  }
}

local(document);
