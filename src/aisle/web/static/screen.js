// Page of one window: the terminal, the link to its app, and what stands over it.

import { FitAddon } from "/static/addon-fit.mjs";
import { Unicode11Addon } from "/static/addon-unicode11.mjs";
import { Find } from "/static/find.js";
import { History } from "/static/history.js";
import { Link, windowKey } from "/static/socket.js";
import { ring } from "/static/sound.js";
import { Terminal } from "/static/xterm.mjs";

const BELL = 7;
const HANDHELD_COLUMNS = 40;
const DOWNLOAD_MS = 60000;
const CELL_WIDTH = 0.6; // of the font's size
const [SMALLEST_FONT, FONT] = [11, 16];
const COLOURS = {
  background: "#14181d", foreground: "#e6edf3", cursor: "#e6edf3", selectionBackground: "#3f6f8f",
  black: "#14181d", red: "#ff7b72", green: "#7ee787", yellow: "#ffb454",
  blue: "#79b8ff", magenta: "#d2a8ff", cyan: "#58c7f3", white: "#c9d1d9",
  brightBlack: "#9aa7b4", brightRed: "#ffa198", brightGreen: "#a5f0ab", brightYellow: "#ffd28a",
  brightBlue: "#a5d0ff", brightMagenta: "#e2c5ff", brightCyan: "#8fdcfa", brightWhite: "#ffffff",
};
const BROWSER_KEYS = ["F5", "F11", "F12"];

const element = (id) => document.getElementById(id);
const main = element("screen");
const words = JSON.parse(main.dataset.words);
const readable = (inputs) => inputs.join("").replaceAll("\r", "⏎").replace(/[\x00-\x1f\x7f]/g, "");
const notTaken = (inputs) => (inputs.length ? `${words.not_taken} ${readable(inputs)}` : "");

await document.fonts.load(`${FONT}px "Roboto Mono"`);
const terminal = new Terminal({
  allowProposedApi: true, // for the widths of Unicode 11
  cursorBlink: false,
  drawBoldTextInBrightColors: false,
  fontFamily: '"Roboto Mono", monospace',
  fontSize: FONT,
  macOptionClickForcesSelection: true,
  minimumContrastRatio: 4.5,
  screenReaderMode: true,
  scrollback: 0,
  theme: COLOURS,
});
const fitting = new FitAddon();
terminal.loadAddon(fitting);
terminal.loadAddon(new Unicode11Addon());
terminal.unicode.activeVersion = "11";
terminal.open(main);

// A phone's window has forty columns, as a handheld; its keyboard leaves the rest of the window to the screen.
const fit = () => {
  const { width, height } = window.visualViewport ?? { width: innerWidth, height: innerHeight };
  main.style.height = `${height}px`;
  const fontSize = Math.floor(width / HANDHELD_COLUMNS / CELL_WIDTH);
  terminal.options.fontSize = Math.min(FONT, Math.max(SMALLEST_FONT, fontSize));
  fitting.fit();
};
fit();

// What the cells leave free has the ground of the last one, whichever the theme.
terminal.onRender(() => {
  const cell = terminal.buffer.active.getLine(terminal.rows - 1)?.getCell(terminal.cols - 1);
  const ground = cell?.isBgRGB() ? `#${cell.getBgColor().toString(16).padStart(6, "0")}` : COLOURS.background;
  document.body.style.backgroundColor = ground;
});

const focus = () => {
  if (!element("over").hidden) element("again").focus();
  else if (!find.isOpen) terminal.focus();
};

const report = (text) => {
  element("link").textContent = text;
  element("link").hidden = !text;
};

let pieces = [];
const takePiece = ({ name, content, is_last: isLast }) => {
  pieces.push(Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0)));
  if (!isLast) return;
  const url = URL.createObjectURL(new Blob(pieces));
  const anchor = Object.assign(document.createElement("a"), { href: url, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), DOWNLOAD_MS);
  pieces = [];
  link.say("saved");
};

const pages = new History((address) => link.open(address));
const link = new Link(main.dataset.websocketUrl, await windowKey(), {
  size: () => ({ cols: terminal.cols, rows: terminal.rows }),
  address: () => pages.address,
  data: (bytes) => {
    const bells = bytes.filter((byte) => byte === BELL).length;
    if (bells) ring(bells);
    terminal.write(bytes);
  },
  page: (page) => {
    document.title = page.title ? `${page.title} – aisle` : words.title;
    pages.follow(page);
  },
  file: takePiece,
  up: (lost) => {
    pieces = [];
    report(notTaken(lost));
  },
  down: (isStopped) => {
    const waiting = link.waiting ? ` ${words.inputs_wait} ${link.waiting}` : "";
    report((isStopped ? words.server_stopped : words.no_link) + waiting);
  },
  over: (code, lost) => end(code, lost),
});

const ENDS = {
  1000: ["ended", "sign_in"],
  4000: ["ended", "sign_in"],
  4001: ["elsewhere", "go_on_here"],
  4002: ["too_many_windows", "open_again"],
  4003: ["failed", "open_again"],
};
const end = (code, lost) => {
  const [why, again] = ENDS[code];
  report("");
  element("why").textContent = `${words[why]} ${notTaken(lost)}`;
  element("again").textContent = words[again];
  element("over").querySelector("form").hidden = why === "ended";
  element("over").hidden = false;
  focus();
};

const find = new Find(terminal, words, (text) => link.input(text), focus);
terminal.onData((text) => {
  if (link.isUp) report("");
  link.input(text);
});
// With its layer for screen readers, xterm.js leaves out text that a keyboard inserts without a key.
let isKeyDown = false;
terminal.textarea.addEventListener("keydown", () => (isKeyDown = true), true);
terminal.textarea.addEventListener("keyup", () => (isKeyDown = false), true);
terminal.textarea.addEventListener("input", ({ data, inputType, isComposing }) => {
  if (data && inputType === "insertText" && !isComposing && !isKeyDown) terminal.input(data);
});
terminal.onResize((size) => link.resize(size));
terminal.attachCustomKeyEventHandler((event) => {
  const key = event.key.toLowerCase();
  if (event.ctrlKey && key === "f" && event.type === "keydown") {
    event.preventDefault();
    find.open();
    return false;
  }
  const isCopy = event.ctrlKey && key === "c" && terminal.hasSelection();
  const isOfBrowser = BROWSER_KEYS.includes(event.key) || (event.ctrlKey && "rv+-=0".includes(key));
  const isHistory = event.altKey && ["arrowleft", "arrowright"].includes(key);
  return !(isCopy || isOfBrowser || isHistory);
});

// A click on the page gives the keyboard back to the screen, and a tap opens the one of a phone.
document.addEventListener("pointerup", ({ target }) => {
  if (getSelection().isCollapsed && !target.closest("form, section")) focus();
});
addEventListener("focus", focus);
addEventListener("resize", fit);
window.visualViewport?.addEventListener("resize", fit);
element("again").addEventListener("click", () => location.reload());
focus();
link.connect();
