type Child = Node | string | null | undefined | false;

/** Makes an element. `on…` are listeners, other properties attributes: true is an empty one, false and null none. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, unknown> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value as EventListener);
    else set(element, name, value);
  }
  element.append(...children.filter((child): child is Node | string => !!child));
  return element;
}

/** Sets an attribute if it is another one: an element that stays as it is keeps its state and is not read out again. */
export function set(element: Element, name: string, value: unknown): void {
  const text = value === true ? "" : String(value);
  if (value === false || value == null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Sets a text if it is another one. */
export function say(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

const SVG = "http://www.w3.org/2000/svg";

/** An icon of 20 by 20, drawn with one path. It is decoration: the button around it has the name. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", path);
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.append(line);
  return svg;
}

/** A style sheet that a strict policy takes: nothing of it is in the markup. */
export function sheet(css: string): CSSStyleSheet {
  const made = new CSSStyleSheet();
  made.replaceSync(css);
  return made;
}
