// A host: pages of another origin than the server's, with an endpoint that hands out tokens.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { token } from "./clock.js";

export class HostSite {
  readonly server: Server;
  readonly pages = new Map<string, { html: string; headers?: Record<string, string>; type?: string }>();
  /** What `GET /token?sub=…` answers; null: nobody is signed in. */
  give: (sub: string, tenant?: string) => string | null = (sub) => token(sub, Date.now(), this.lifeMs, { jti: Math.random() });
  lifeMs = 3_600_000;
  asked = 0;
  readonly reports: string[] = [];

  constructor() {
    this.server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url!, this.url);
      if (pathname === "/token") {
        this.asked += 1;
        const given = this.give(searchParams.get("sub") ?? "ana", searchParams.get("tenant") || undefined);
        response.writeHead(given ? 200 : 401, { "content-type": "application/json" }).end(JSON.stringify({ token: given }));
      } else if (pathname === "/favicon.ico") {
        response.writeHead(204).end();
      } else if (pathname === "/report") {
        request.on("data", (chunk) => this.reports.push(String(chunk)));
        request.on("end", () => response.writeHead(204).end());
      } else {
        const page = this.pages.get(pathname);
        response.writeHead(page ? 200 : 404, { "content-type": page?.type ?? "text/html; charset=utf-8", ...page?.headers });
        response.end(page?.html ?? "");
      }
    });
  }

  get url(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  async start(port = 0): Promise<this> {
    await new Promise<void>((done) => this.server.listen(port, done));
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((done) => this.server.close(done));
  }
}
