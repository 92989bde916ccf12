// Ctrl+F: finds words on the screen and marks them. A scan into its field goes to the app.

const SCAN_KEY_MS = 35;
const SHORTEST_SCAN = 4;

const fold = (text) => [...text].map((letter) => letter.normalize("NFD")[0].toLowerCase()).join("");

export class Find {
  // `input(text)` takes a scan, `isClosed()` gives the focus back.
  constructor(terminal, words, input, isClosed) {
    Object.assign(this, { terminal, words, input, isClosed });
    this.form = document.getElementById("find");
    [this.field, this.result] = this.form.children;
    this.matches = [];
    this.at = 0;
    this.keys = [];
    this.field.addEventListener("input", () => this.search());
    this.form.addEventListener("keydown", (event) => this.press(event));
    this.form.addEventListener("submit", (event) => event.preventDefault());
    terminal.onRender(() => this.isOpen && this.search());
  }

  get isOpen() {
    return !this.form.hidden;
  }

  open() {
    this.form.hidden = false;
    this.field.select();
    this.field.focus();
    this.search();
  }

  close() {
    this.form.hidden = true;
    this.marks().forEach((mark) => mark.remove());
    this.isClosed();
  }

  press(event) {
    event.stopPropagation();
    if (event.key === "Escape") return this.close();
    if (event.key.length === 1) this.keys.push(event.timeStamp);
    if (event.key !== "Enter") return;
    event.preventDefault();
    const keys = this.keys.splice(0);
    const isScan = keys.length >= SHORTEST_SCAN && keys.every((at, n) => !n || at - keys[n - 1] < SCAN_KEY_MS);
    if (isScan && event.timeStamp - keys.at(-1) < SCAN_KEY_MS) {
      const text = this.field.value.slice(-keys.length);
      this.field.value = "";
      this.close();
      return this.input(`${text}\r`);
    }
    this.at += event.shiftKey ? -1 : 1;
    this.search();
  }

  search() {
    const wanted = fold(this.field.value.trim());
    this.matches = wanted ? this.found(wanted) : [];
    const count = this.matches.length;
    this.at = count ? (this.at + count) % count : 0;
    const found = count ? `${this.at + 1} / ${count}` : this.words.nothing_found;
    this.result.textContent = wanted ? found : this.words.find_all;
    this.draw();
  }

  // Returns [column, row, columns] of each match.
  found(wanted) {
    const buffer = this.terminal.buffer.active;
    const found = [];
    for (let row = 0; row < this.terminal.rows; row++) {
      const line = buffer.getLine(buffer.viewportY + row);
      const cells = [];
      for (let column = 0; column < this.terminal.cols; column++) {
        const cell = line?.getCell(column);
        if (cell?.getWidth()) for (const letter of fold(cell.getChars() || " ")) cells.push([letter, column]);
      }
      const text = cells.map(([letter]) => letter).join("");
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        const [first, last] = [cells[at][1], cells[at + wanted.length - 1][1]];
        found.push([first, row, last - first + 1]);
      }
    }
    return found;
  }

  marks() {
    return document.querySelectorAll("mark");
  }

  draw() {
    const screen = document.querySelector(".xterm-screen");
    const [width, height] = [screen.clientWidth / this.terminal.cols, screen.clientHeight / this.terminal.rows];
    this.marks().forEach((mark) => mark.remove());
    this.matches.forEach(([column, row, columns], n) => {
      const mark = document.createElement("mark");
      mark.className = n === this.at ? "here" : "";
      const [x, y, wide] = [column * width, row * height, columns * width];
      mark.style = `left: ${x}px; top: ${y}px; width: ${wide}px; height: ${height}px`;
      screen.append(mark);
    });
  }
}
