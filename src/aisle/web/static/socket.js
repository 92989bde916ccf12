// Link to the server: one websocket at a time, opened again by itself after a cut.
//
// Each input has a number and is kept until the app has taken it. After a cut the inputs that it has not taken are
// sent again, with the pauses between them. A new app process did not see them: then they are reported, not sent.
// Keys at the pace of a scanner are one input, so that no delay of the network parts a code from its first letter.

const RETRY_MS = [0, 300, 700, 1500, 3000];
const PING_MS = 5000;
const ANSWER_MS = 6000;
const LONGEST_PAUSE_MS = 400;
const SCAN_KEY_MS = 20;
const LAST_CODES = [1000, 4000, 4001, 4002, 4003];
const ENDED = 4000;
const SERVER_STOPS = 1012;

const OTHERS_MS = 80;

const newKey = () => [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(36)).join("");

// Returns the key of this page's window. A page that was copied from another one gets a key of its own.
export const windowKey = async () => {
  let key = sessionStorage.getItem("window");
  const channel = new BroadcastChannel("aisle");
  const isTaken = new Promise((decide) => {
    channel.onmessage = ({ data }) => data.has === key && decide(true);
    setTimeout(() => decide(false), OTHERS_MS);
  });
  channel.postMessage({ who: key });
  if (!key || (await isTaken)) {
    key = newKey();
    sessionStorage.removeItem("number");
  }
  channel.onmessage = ({ data }) => data.who === key && channel.postMessage({ has: key });
  sessionStorage.setItem("window", key);
  return key;
};

export class Link {
  // `hooks`: size() and address() of the page; data(bytes), page(message),
  // file(piece), up(lost), down(isStopped), over(code).
  constructor(url, key, hooks) {
    this.url = url;
    this.key = key;
    this.hooks = hooks;
    this.windowNumber = sessionStorage.getItem("number") ?? "";
    this.inputs = []; // {number, text, at, endsAt}: typed, and not known to be taken
    this.lastNumber = 0;
    this.isUp = this.isOver = this.wasUp = this.isStopped = false;
    this.failures = 0;
    addEventListener("online", () => this.retryNow());
    addEventListener("offline", () => this.drop());
    document.addEventListener("visibilitychange", () => document.hidden || this.check());
    setInterval(() => this.check(), PING_MS);
  }

  get waiting() {
    return this.inputs.length;
  }

  connect() {
    const { cols, rows } = this.hooks.size();
    const query = new URLSearchParams({
      window: this.key, number: this.windowNumber, width: cols, height: rows, address: this.hooks.address(),
    });
    const socket = (this.socket = new WebSocket(`${this.url}?${query}`));
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.socket === socket && this.receive(data);
    socket.onclose = ({ code }) => this.socket === socket && this.lose(code);
    this.answerBy = Date.now() + ANSWER_MS;
  }

  receive(data) {
    this.answerBy = Infinity;
    if (data instanceof ArrayBuffer) return this.hooks.data(new Uint8Array(data));
    const [kind, content] = JSON.parse(data);
    if (kind === "window") this.begin(content);
    if (kind === "taken") this.inputs = this.inputs.filter(({ number }) => number > content);
    if (kind === "page") this.hooks.page(content);
    if (kind === "file") this.hooks.file(content);
  }

  begin({ number, taken, new: isNew }) {
    sessionStorage.setItem("number", (this.windowNumber = number));
    let lost = [];
    if (isNew || !this.wasUp) {
      lost = this.inputs;
      this.inputs = [];
      this.lastNumber = taken;
    }
    this.inputs = this.inputs.filter((input) => input.number > taken);
    this.sentNumber = taken;
    this.isUp = this.wasUp = true;
    this.isStopped = false;
    this.failures = 0;
    this.hooks.up(lost.map(({ text }) => text));
    this.resize(this.hooks.size());
    this.send();
  }

  input(text) {
    if (this.isOver) return;
    const [at, last] = [Date.now(), this.inputs.at(-1)];
    if (last && !last.sentAt && at < last.endsAt) {
      last.text += text;
      last.endsAt = Math.min(at + SCAN_KEY_MS, last.at + LONGEST_PAUSE_MS);
    } else this.inputs.push({ number: ++this.lastNumber, text, at, endsAt: at + SCAN_KEY_MS });
    if (this.isUp) this.send();
    else this.hooks.down(this.isStopped);
  }

  async send() {
    if (this.isSending) return;
    this.isSending = true;
    for (let next; this.isUp && (next = this.inputs.find(({ number }) => number > this.sentNumber)); ) {
      const pause = Math.min(next.at - (this.sentInput?.at ?? 0), LONGEST_PAUSE_MS);
      const left = Math.max((this.sentInput?.sentAt ?? 0) + pause, next.endsAt) - Date.now();
      if (left > 0) {
        await new Promise((done) => setTimeout(done, left));
        continue;
      }
      next.sentAt = Date.now();
      this.sentInput = next;
      this.sentNumber = next.number;
      this.say("input", next.number, next.text);
    }
    this.isSending = false;
  }

  resize({ cols, rows }) {
    this.say("resize", { width: cols, height: rows });
  }

  open(address) {
    this.say("open", address);
  }

  say(...message) {
    if (!this.isUp || this.socket.readyState !== WebSocket.OPEN) return;
    this.socket.send(JSON.stringify(message));
    this.answerBy = Math.min(this.answerBy, Date.now() + ANSWER_MS);
  }

  check() {
    if (this.isOver || !this.socket) return;
    if (Date.now() > this.answerBy) this.drop();
    else this.say("ping", "");
  }

  drop() {
    if (!this.socket) return;
    this.socket.close();
    this.lose(1006);
  }

  async lose(code) {
    this.socket = undefined;
    this.isUp = false;
    if (LAST_CODES.includes(code)) return this.end(code);
    this.isStopped ||= code === SERVER_STOPS;
    this.hooks.down(this.isStopped);
    if (this.failures && (await this.isSignedOut())) return this.end(ENDED);
    const delay = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
    this.retry = setTimeout(() => this.retryNow(), delay);
  }

  retryNow() {
    clearTimeout(this.retry);
    if (!this.socket && !this.isOver) this.connect();
  }

  async isSignedOut() {
    try {
      return (await fetch("/signed-in", { cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) })).status === 401;
    } catch {
      return false; // nobody answers
    }
  }

  end(code) {
    this.isOver = true;
    this.hooks.over(code, this.inputs.map(({ text }) => text));
  }
}
