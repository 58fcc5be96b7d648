"""Serves inbox.html and passes its calls on to tidings: the API key stays on this side of the browser."""
import http.server, os, urllib.error, urllib.request

TIDINGS = os.environ.get("TIDINGS_URL", "http://127.0.0.1:8990")
HEADERS = {"Authorization": f"Bearer {os.environ.get('TIDINGS_KEY', '')}", "Content-Type": "application/json"}

class Proxy(http.server.SimpleHTTPRequestHandler):
    def pass_on(self, body=None):
        recipient = "ana"  # take it from your own session: who is signed in
        request = urllib.request.Request(f"{TIDINGS}/v1/recipients/{recipient}{self.path}", body, HEADERS)
        try:
            answer = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error  # tidings refused the call: pass its status and its reason on
        except OSError as error:
            self.log_error("%s: %s", TIDINGS, error)
            return self.send_error(502, "tidings does not answer")
        with answer:
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"] or "text/plain")
            self.end_headers()
            self.wfile.write(answer.read())

    def do_GET(self):
        self.pass_on() if self.path.split("?")[0] == "/inbox" else super().do_GET()

    def do_POST(self):
        if self.path not in ("/inbox/seen", "/inbox/read"):
            return self.send_error(404)
        self.pass_on(self.rfile.read(int(self.headers["Content-Length"] or 0)))

os.chdir(os.path.dirname(os.path.abspath(__file__)))
http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Proxy).serve_forever()
