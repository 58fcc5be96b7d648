// An inbox with the things of a gallery, for screenshots and for looking at it.
import type { World } from "./world.js";

const MINUTE = 60_000;
const people = {
  rob: { id: "rob", title: "Rob Wynne" },
  ines: { id: "ines", title: "Inés Marchetti" },
  yuki: { id: "yuki", title: "Yuki Tanaka" },
  otto: { id: "otto", title: "Otto Brandt" },
  long: { id: "long", title: "Wolfeschlegelsteinhausenbergerdorff von und zu Hohenlohe-Waldenburg-Schillingsfürst" },
  gallery: { id: "gallery", title: "Kunsthalle Nord", image: picture("#0f766e", "#99f6e4") },
};

export function picture(from: string, to: string): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 40"><defs><linearGradient id="g" x2="1" y2="1"><stop stop-color="${from}"/><stop offset="1" stop-color="${to}"/></linearGradient></defs><rect width="40" height="40" fill="url(#g)"/><circle cx="28" cy="14" r="7" fill="#fff" fill-opacity=".5"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

/** Twelve rows of all kinds, over some days. */
export function fill(world: World, long = false): void {
  const now = world.now;
  world.titles.following = "Artists you follow";
  world.titles.comments = "Comments";
  const say = {
    work: (actors: string[], count: number, object: string) =>
      count > 1 ? `${actors[0]} published ${count} works` : `${actors[0]} published ${object}`,
    comment: (actors: string[], _: number, object: string) =>
      actors.length > 2 ? `${actors[0]} and ${actors.length - 1} others commented on ${object}`
      : `${actors.join(" and ")} commented on ${object}`,
    show: (actors: string[], _: number, object: string) => `${actors[0]} opens ${object} near you`,
    invoice: (_: string[], __: number, object: string) => `Your invoice for ${object} is ready`,
  };
  const put = (type: keyof typeof say, ago: number, more: object) =>
    world.publish({ type, category: type === "comment" ? "comments" : "following", at: now - ago * MINUTE, text: say[type], ...more });
  const dream = { id: "works/dream", title: "You’re Dreaming", url: "#dream", image: picture("#4338ca", "#f0abfc") };
  const lilies = { id: "works/lilies", title: "Water Lilies, 1916", url: "#lilies" };
  put("invoice", 60 * 24 * 9, { object: { id: "invoice/7", title: "October", url: "#invoice" } });
  put("show", 60 * 24 * 4, { actor: people.gallery, object: { id: "show/1", title: "Light after Dark", url: "#show" } });
  put("comment", 60 * 50, { actor: people.otto, object: lilies, body: "The reflections on the left look restored to me. Do we know when that was done?" });
  put("work", 60 * 27, { actor: people.yuki, object: { id: "works/tide", title: "Tide Table", url: "#tide" } });
  if (long) put("work", 60 * 5, { actor: people.long, object: { id: "works/long", title: "An Exceedingly Long Title of a Work That Goes on and on, and Has_a_word_without_any_place_to_break_it_whatsoever", url: "#long" } });
  put("show", 60 * 5, { actor: people.gallery, object: { id: "show/3", title: "Drawings of the Sea", url: "#sea" } });
  world.mark("read", { all: true });
  put("comment", 190, { actor: people.otto, object: dream });
  put("comment", 130, { actor: people.yuki, object: dream });
  put("comment", 64, { actor: people.ines, object: dream, body: "Stunning." });
  put("show", 42, { actor: people.gallery, object: { id: "show/2", title: "Paper Architecture", url: "#paper" } });
  world.mark("seen", { all: true });
  put("comment", 12, { actor: people.ines, object: lilies, body: "Could you send me the condition report before Friday? I’d like to show it to our conservator." });
  put("work", 3, { actor: people.rob, object: { id: "works/new", title: "Second Sleep", url: "#new", image: picture("#b45309", "#fde68a") } });
}

export const thousand = (world: World) => {
  for (let n = 1; n <= 1000; n++) {
    world.publish({
      type: "comment", category: "comments", at: world.now - (1000 - n) * 7 * MINUTE, actor: { id: `p${n % 37}`, title: `Person ${n % 37}` },
      object: { id: `works/${n}`, title: `Work No. ${n}`, url: `#${n}` },
    });
  }
};
