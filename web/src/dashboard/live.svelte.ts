// The connection to whoever serves the page: a session, then snapshots as they come, also after a restart.

import type { Action, DeviceView, Snapshot, SnapshotNews } from "./snapshot.ts";

/** Nothing for this long, although something comes every two seconds: the other end is gone, or hangs. */
const SILENT_MILLISECONDS = 7_000;
const RETRY_MILLISECONDS = 1_000;
/** What an action came to is read after this time; why it failed after a longer one. */
const SAID_MILLISECONDS = 8_000;
const FAILED_MILLISECONDS = 30_000;

export class Live {
  snapshot: Snapshot | undefined = $state.raw();
  /** connecting, live, lost, or why nobody may look. */
  state: "connecting" | "live" | "lost" | "refused" = $state("connecting");
  /** What the last action came to, and on which device. */
  said: { readonly device: string; readonly text: string; readonly isFailure: boolean } | undefined = $state.raw();
  /** By the wall clock, once a second. */
  now = $state(Date.now());
  /** When something last came. */
  heardAt = $state(Date.now());
  #devices = new Map<string, DeviceView>();
  #proof = "";

  constructor() {
    setInterval(() => {
      this.now = Date.now();
    }, 1000);
    void this.#begin();
  }

  async act(action: Action): Promise<void> {
    const response = await fetch("act", {
      method: "POST",
      headers: { "content-type": "application/json", "x-fedkm-proof": this.#proof },
      body: JSON.stringify(action),
    }).catch(() => undefined);
    if (response === undefined) this.#say(action.device, "the device does not answer", true);
    else if (response.ok) this.#say(action.device, (await response.json()).said, false);
    else this.#say(action.device, await response.text(), true);
  }

  #say(device: string, text: string, isFailure: boolean): void {
    const said = { device, text, isFailure };
    this.said = said;
    const forget = () => {
      if (this.said === said) this.said = undefined;
    };
    setTimeout(forget, isFailure ? FAILED_MILLISECONDS : SAID_MILLISECONDS);
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
      this.heardAt = Date.now();
    };
    heard();
    events.onerror = again;
    events.addEventListener("still", heard);
    events.onmessage = ({ data }) => {
      heard();
      const { health, ids, devices }: SnapshotNews = JSON.parse(data);
      for (const device of devices) this.#devices.set(device.id, device);
      this.snapshot = { health, devices: ids.flatMap((id) => this.#devices.get(id) ?? []) };
      this.state = "live";
    };
  }
}
