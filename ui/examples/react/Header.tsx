import "@tidings/ui/inbox";
import type {} from "@tidings/ui/react";
import type { Item } from "@tidings/ui/core";

/** The bell in the header of an application. `go` is the router's own way to a page. */
export function Header({ go }: { go: (url: string) => void }) {
  const open = (event: CustomEvent<Item>) => {
    const { url } = event.detail.object;
    if (!url?.startsWith("/")) return;
    event.preventDefault();
    go(url);
  };
  return (
    <header>
      <h1>Gallery</h1>
      <tidings-inbox server="https://tidings.example.org" token-url="/tidings-token" tabs="category" ontidings-open={open} />
    </header>
  );
}
