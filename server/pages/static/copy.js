// Gives text that is to be pasted elsewhere a button that copies it, if the browser can.

if (navigator.clipboard) {
  for (const block of document.querySelectorAll("[data-copy]")) {
    const around = document.createElement("div");
    const button = document.createElement("button");
    around.className = "copied";
    button.type = "button";
    button.textContent = "copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    block.replaceWith(around);
    around.append(block, button);
  }
}
