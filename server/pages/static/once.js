// A button that is tapped twice gives its order once. Where the network is slow, the second tap would be the one that
// is answered: a link to the desk is spent by then, and an order was carried out "already".

const MOMENT = 5_000; // ms in which nobody means the same form to be sent again
let sent = new WeakMap(); // by form: when it was sent last

document.addEventListener("submit", (event) => {
  const now = performance.now();
  if (now < (sent.get(event.target) ?? -MOMENT) + MOMENT) event.preventDefault();
  else sent.set(event.target, now);
});
addEventListener("pageshow", () => { sent = new WeakMap(); }); // also back from a page that an order led to
