"""A page with an inbox, and the token that it asks for: `TIDINGS_SIGNING_KEY=tsk_… python3 host.py`"""
import base64, hashlib, hmac, http.server, json, os, pathlib, time

KEY = os.environ["TIDINGS_SIGNING_KEY"]  # what `tidings signing-key new` shows once


def token(recipient):
    now = int(time.time())
    parts = {"alg": "HS256", "kid": KEY.split("_")[1]}, {"sub": recipient, "iat": now, "exp": now + 900}
    base64url = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=")
    signed = b".".join(base64url(json.dumps(part).encode()) for part in parts)
    return (signed + b"." + base64url(hmac.digest(KEY.encode(), signed, hashlib.sha256))).decode()


class Host(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        asked = self.path == "/token"
        # "ana" stands for whoever is signed in; nobody is: 401.
        body = json.dumps({"token": token("ana")}).encode() if asked else pathlib.Path(__file__).with_name("index.html").read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if asked else "text/html")
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("localhost", int(os.environ.get("PORT", 8080))), Host).serve_forever()
