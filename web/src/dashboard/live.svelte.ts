// The connection to whoever serves the page: a session, then snapshots as they come, also after a restart.

import type { Action, Snapshot } from "./snapshot.ts";

/** Nothing for this long, although something comes every ten seconds: the other end is gone. */
const SILENT_MILLISECONDS = 25_000;
const RETRY_MILLISECONDS = 1_000;

export class Live {
  snapshot: Snapshot | undefined = $state.raw();
  /** connecting, live, lost, or why nobody may look. */
  state: "connecting" | "live" | "lost" | "refused" = $state("connecting");
  /** What the last action came to. */
  said: { readonly text: string; readonly isFailure: boolean } | undefined = $state.raw();
  #proof = "";

  constructor() {
    void this.#begin();
  }

  async act(action: Action): Promise<void> {
    const response = await fetch("act", {
      method: "POST",
      headers: { "content-type": "application/json", "x-fedkm-proof": this.#proof },
      body: JSON.stringify(action),
    }).catch(() => undefined);
    if (response === undefined) this.said = { text: "the device does not answer", isFailure: true };
    else if (response.ok) this.said = { text: (await response.json()).said, isFailure: false };
    else this.said = { text: await response.text(), isFailure: true };
  }

  async #begin(): Promise<void> {
    const token = location.hash.slice(1);
    // Out of the address at once: whoever sees the screen or the history must not find it there.
    if (token !== "") history.replaceState(null, "", location.pathname);
    const response =
      token === ""
        ? await fetch("session")
        : await fetch("session", {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify({ token }),
          });
    if (!response.ok) {
      this.state = "refused";
      return;
    }
    this.#proof = (await response.json()).proof;
    this.#listen();
  }

  /** The session is as good as before a restart, unless it has ended. */
  async #listenAgain(): Promise<void> {
    const response = await fetch("session").catch(() => undefined);
    if (response?.status === 401) this.state = "refused";
    else if (response?.ok === true) this.#listen();
    else setTimeout(() => void this.#listenAgain(), RETRY_MILLISECONDS);
  }

  #listen(): void {
    const events = new EventSource("events");
    let silence: ReturnType<typeof setTimeout>;
    const again = () => {
      events.close();
      clearTimeout(silence);
      this.state = "lost";
      setTimeout(() => void this.#listenAgain(), RETRY_MILLISECONDS);
    };
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(again, SILENT_MILLISECONDS);
    };
    heard();
    events.onerror = again;
    events.addEventListener("still", heard);
    events.onmessage = ({ data }) => {
      heard();
      this.snapshot = JSON.parse(data);
      this.state = "live";
    };
  }
}
