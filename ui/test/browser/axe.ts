import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds wrong with an element, its shadow root included. */
export async function violations(page: Page, selector: string): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async (selector) => {
    await Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => 0)));
    const result = await (window as any).axe.run(selector);
    const seen = result.passes.find(({ id }: any) => id === "color-contrast" || id === "button-name");
    if (!seen?.nodes.length) return ["axe saw nothing"];
    return result.violations.flatMap(({ id, nodes }: any) => nodes.map((node: any) => `${id}: ${node.html} ${node.failureSummary}`));
  }, selector);
}
