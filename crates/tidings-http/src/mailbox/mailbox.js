// Takes over the list of a page that was loaded again, as soon as there is a newer mail.
const list = () => document.getElementById("list");
setInterval(async () => {
  if (document.hidden) return;
  try {
    const newest = await (await fetch("/_mail/-/newest")).text();
    if (newest === list().dataset.newest) return;
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    const at = list().scrollTop;
    list().replaceWith(page.getElementById("list"));
    list().scrollTop = at;
  } catch {
    // The server is away: the next look finds it again.
  }
}, 1500);
