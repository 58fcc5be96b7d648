// Doc comments.

/** A doc comment of some paragraphs, at a depth of indentation; nothing if there is no text. */
export function comment(paragraphs, indent = "") {
  const text = paragraphs.filter(Boolean).join("\n\n").trim().replaceAll("*/", "*\\/");
  if (!text) return "";
  const lines = text.split("\n");
  if (lines.length === 1 && lines[0].length < 110) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

/** A name as a member of an object has it. */
export const member = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
