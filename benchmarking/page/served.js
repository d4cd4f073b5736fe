"use strict";
// A served report asks every few seconds whether there is news, and then loads itself anew, where the reader was.
(() => {
  let known = null;
  async function look() {
    try {
      const answer = await fetch("/version", { cache: "no-store" });
      const version = await answer.text();
      if (answer.ok && known !== null && version !== known) location.reload();
      if (answer.ok) known = version;
    } catch {
      // The server has ended; what was loaded stays.
    }
    setTimeout(look, 3000);
  }
  look();
})();
