/** @jsxImportSource preact */
import "@tidings/ui/follow";
import type {} from "@tidings/ui/preact";

/** A button that follows an artist. */
export function Follow({ artist }: { artist: string }) {
  return <tidings-follow server="https://tidings.example.org" token-url="/tidings-token" topic={`artist/${artist}`} />;
}
