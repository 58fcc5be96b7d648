"""The two addresses that an application needs: tokens for its pages, and webhooks from tidings.

The standard library alone serves here; with a framework the functions stay the same.
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tidings import sign_token, webhooks

done: set[str] = set()


class Host(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        recipient = "ana"  # take it from your own session: who is signed in
        token = sign_token(recipient, ttl=900, scope="inbox preferences")
        self.answer(200, {"token": token})

    def do_POST(self) -> None:
        payload = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            hook = webhooks.verify(payload, dict(self.headers), os.environ["HOOK_SECRET"])
        except webhooks.WebhookError as fault:
            self.answer(400, {"error": str(fault)})
            return
        if hook.id not in done:  # a table of your database, in earnest
            done.add(hook.id)
            print(hook.type, hook.data, flush=True)
        self.answer(200, {})

    def answer(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Host)
    print(server.server_port, flush=True)
    server.serve_forever()
