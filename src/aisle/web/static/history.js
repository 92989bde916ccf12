// The browser's address and history follow the page of the app; Back and Forward open the page of their address.

export class History {
  // `open(address)` asks the app to open a page.
  constructor(open) {
    this.isFirst = true;
    this.isGoingBack = false;
    addEventListener("popstate", () => {
      if (this.isGoingBack) this.isGoingBack = false;
      else open(this.address);
    });
  }

  get address() {
    return location.pathname + location.search;
  }

  follow({ address }) {
    if (this.isFirst) history.replaceState(history.state, "", address);
    else if (address === this.address) return;
    else if (history.state?.before === address) {
      this.isGoingBack = true;
      history.back();
    } else history.pushState({ before: this.address }, "", address);
    this.isFirst = false;
  }
}
