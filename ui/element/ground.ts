import { h, set } from "./h.js";

/**
 * Lays a root on the ground of its page, as `flat` says: without a background, and in the colours that suit the page's
 * text, which may be light or dark whatever the system prefers. The style of the probe is in `ground.css`.
 */
export function lay(root: HTMLElement, flat: boolean): void {
  root.classList.toggle("flat", flat);
  if (!flat) return set(root, "data-ground", null);
  const probe = h("span", { class: "probe", "aria-hidden": "true" });
  const look = () => {
    const style = getComputedStyle(probe);
    const [first = 0, second = 0, third = 0] = (style.color.match(/[\d.]+/g) ?? []).map(Number);
    // A browser that can't tell the lightness of a colour shows the colour itself.
    const lightness = style.color.startsWith("rgb") ? (first + second + third) / 765 : first;
    const own = style.getPropertyValue("--tidings-background").trim();
    set(root, "data-ground", own ? null : lightness > 0.6 ? "dark" : "light");
  };
  // Another colour of the text is heard of as the probe's own transition.
  for (const event of ["transitionrun", "transitionend"]) probe.addEventListener(event, look);
  root.append(probe);
  look();
}
