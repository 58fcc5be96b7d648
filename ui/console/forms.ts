/** Filters leave empty fields out of the URL, and the menu at the top closes like one. */
export function forms(): void {
  document.addEventListener("submit", ({ target }) => {
    const form = target as HTMLFormElement;
    if (form.method !== "get") return;
    const empty = [...form.elements].filter((field): field is HTMLInputElement => "value" in field && field.value === "" && !(field as HTMLInputElement).disabled);
    for (const field of empty) field.disabled = true;
    // The page stays where the answer is a file, and comes back by the browser's button.
    setTimeout(() => empty.forEach((field) => (field.disabled = false)));
  });
  const menu = document.querySelector<HTMLDetailsElement>(".who");
  document.addEventListener("click", ({ target }) => {
    if (menu?.open && !menu.contains(target as Node)) menu.open = false;
  });
  menu?.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary")!.focus();
  });
}
