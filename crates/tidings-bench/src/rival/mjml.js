// Renders the mails on standard input, and prints how many it renders in a second.
import { readFileSync } from "node:fs";
import Handlebars from "handlebars";
import mjml from "mjml";

const template = Handlebars.compile(`
<mjml>
  <mj-head>
    <mj-preview>{{count}} new works</mj-preview>
    <mj-attributes><mj-all font-family="Helvetica, Arial, sans-serif" /></mj-attributes>
  </mj-head>
  <mj-body background-color="#ffffff">
    <mj-section><mj-column><mj-text font-size="24px">Art</mj-text></mj-column></mj-section>
    <mj-section><mj-column><mj-text font-size="20px">{{count}} new works</mj-text></mj-column></mj-section>
    {{#each pairs}}
    <mj-section>
      {{#each this}}
      <mj-column>
        <mj-image src="{{image}}" href="{{url}}" alt="{{title}}" />
        <mj-text><a href="{{url}}">{{title}}</a><br />{{artist}}</mj-text>
      </mj-column>
      {{/each}}
    </mj-section>
    {{/each}}
    <mj-section><mj-column>
      <mj-text font-size="12px">You get this because you follow these artists. <a href="https://art.example/u/{{to}}">Unsubscribe</a></mj-text>
    </mj-column></mj-section>
  </mj-body>
</mjml>`);

const render = async ({ to, items }) => {
  const pairs = [];
  for (let at = 0; at < items.length; at += 2) pairs.push(items.slice(at, at + 2));
  const made = await mjml(template({ to, count: items.length, pairs }), { validationLevel: "skip" });
  if (!made.html.includes(items.at(-1).url)) throw new Error("Error: an item is missing");
};

const mails = JSON.parse(readFileSync(0, "utf8"));
for (const mail of mails.slice(0, 30)) await render(mail);
const begin = process.hrtime.bigint();
for (const mail of mails) await render(mail);
const seconds = Number(process.hrtime.bigint() - begin) / 1e9;
console.log(mails.length / seconds);
