"""Serves index.html, and tokens for whoever is signed in. TIDINGS_SIGNING_KEY is what `tidings signing-key new` printed."""
import base64, hashlib, hmac, http.server, json, os, time

SECRET = os.environ["TIDINGS_SIGNING_KEY"]

def token(recipient, life=900):
    part = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=")
    header = {"alg": "HS256", "kid": SECRET.split("_")[1]}
    now = int(time.time())
    claims = {"sub": recipient, "iat": now, "exp": now + life}
    signed = b".".join(part(json.dumps(of).encode()) for of in (header, claims))
    signature = hmac.new(SECRET.encode(), signed, hashlib.sha256).digest()
    return (signed + b"." + part(signature)).decode()

class Host(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        if self.path != "/tidings-token":
            return super().do_GET()
        recipient = "ana"  # take it from your own session: who is signed in; answer 401 if nobody is
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(json.dumps({"token": token(recipient)}).encode())

if __name__ == "__main__":
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Host).serve_forever()
