// What the pages of the console gain with a script. Without it they work, but for live numbers and the viewer's zone.
//
// The pages' policy forbids to make nodes of texts (`require-trusted-types-for 'script'`), and nothing here does: nodes
// are made one by one, or taken from a page that the browser itself has read.
import { copies } from "./copy.js";
import { forms } from "./forms.js";
import { keys } from "./keys.js";
import { live } from "./live.js";
import { zone } from "./zone.js";

const moved = zone();
const refresh = live();
// Texts of pictures are in the zone of the page: they come anew.
if (moved) void refresh();
copies();
forms();
keys();

// On a narrow screen the bar is longer than the window.
const here = document.querySelector<HTMLElement>(".top nav [aria-current]");
if (here) here.parentElement!.scrollLeft = here.offsetLeft - here.parentElement!.offsetLeft - 48;
