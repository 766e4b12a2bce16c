// Where the built pages lie, and what the dashboard among them shows, for whoever serves them.

export type { Action, DeviceView, LinkView, PrivacyView, Snapshot } from "./dashboard/snapshot.ts";

/** The folder of the static files, with a slash at the end. */
export const site = new URL("../site/", import.meta.url);
