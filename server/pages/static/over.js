// The page of a match that was over when it was opened: whether more is known of it by now, such as that it is void.
//
// It has no stream: that would be silent for ever, and each is a connection. It asks when somebody comes back to the
// page, and once a minute while it can be seen.

const EVERY = 60_000; // ms
const main = document.querySelector("[data-edition]");

async function look() {
  if (document.visibilityState !== "visible") return;
  try {
    const answer = await fetch(`/matches/${main.dataset.match}/edition`);
    const edition = await answer.text();
    if (!answer.ok || edition === main.dataset.edition) return;
    main.dataset.edition = edition;
    if (main.classList.contains("embedded")) location.reload();
    else document.dispatchEvent(new Event("edition"));
  } catch {
    // the host cannot be reached just now, and nothing is missed until the next look
  }
}

if (main.dataset.live === undefined) {
  setInterval(look, EVERY * (0.75 + Math.random() / 2));
  document.addEventListener("visibilitychange", look);
  addEventListener("focus", look);
  addEventListener("pageshow", (event) => { if (event.persisted) look(); });
}
