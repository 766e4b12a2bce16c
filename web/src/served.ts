// Where the built pages lie, what the dashboard among them shows, and how a state of the playground is written.

export type {
  DeviceView,
  HealthView,
} from "./dashboard/snapshot.ts";
export { unreadSetupSettings } from "./engine/setup.ts";
export { watchCompared, watchReproduced } from "./engine/watched.ts";

/** The folder of the static files, with a slash at the end. */
export const site = new URL("../site/", import.meta.url);
