// What a person asks for on the page, carried out as the commands do it.

import { whatNeighboursLearn } from "@fedkm/device";
import { type DeviceFolder, readFolder } from "@fedkm/device/daemon";
import { acceptPeer, pauseDevice, resetDevice, unlinkPeer, waitingFor } from "../devices/changes.ts";
import { LONGEST_NAME, nameCluster } from "../devices/names.ts";
import { lastStatus } from "../devices/state.ts";

/** Of a request, what an action may hold; nothing of it is checked yet. */
type Asked = Readonly<Partial<Record<"do" | "device" | "peer" | "acceptOpen" | "cluster" | "name", unknown>>>;

/** `known` are the folders of the page's devices. Resolves to what to say. */
export async function carryOut(request: unknown, known: ReadonlyMap<string, string>): Promise<string> {
  const asked: Asked = typeof request === "object" && request !== null ? request : {};
  const path = typeof asked.device === "string" ? known.get(asked.device) : undefined;
  if (path === undefined) throw new RangeError("device must be one of this page");
  const folder = await readFolder(path);
  const warned: string[] = [];
  const warnings = { write: (text: string) => warned.push(text) };
  const said = await done(asked, folder, warnings);
  return [said, ...warned].join(" ").trimEnd();
}

async function done(asked: Asked, folder: DeviceFolder, warnings: { write(text: string): unknown }): Promise<string> {
  const { name } = folder;
  if (asked.do === "reset") {
    const { isRunning } = await resetDevice(folder, warnings);
    return isRunning
      ? `${name} begins again from its own rows within a few seconds, and the whole network with it.`
      : `${name} begins again from its own rows when it is run.`;
  }
  if (asked.do === "pause" || asked.do === "resume") {
    const isRunning = await pauseDevice(folder, asked.do === "pause", warnings);
    const what = asked.do === "pause" ? "is paused" : "goes on";
    return `${name} ${what} ${isRunning ? "within a few seconds" : "when it is run"}.`;
  }
  if (asked.do === "name") return named(asked, folder);
  const { peer } = asked;
  if (asked.do === "unlink") {
    if (!folder.links.some((link) => link.peer === peer)) throw new RangeError("peer must be linked");
    const [link] = await unlinkPeer(folder, String(peer), warnings);
    return `${link.name} is unlinked.`;
  }
  if (asked.do === "accept") {
    const stranger = waitingFor(folder).find((one) => one.peer === peer);
    if (stranger === undefined) throw new RangeError("peer must be one that waits to be linked back");
    const agree = () => agreedOnPage(folder, asked);
    const linked = await acceptPeer(folder, { peer: stranger.peer, evenRevoked: false, agree }, warnings);
    return `${linked} is linked; it connects within half a minute.`;
  }
  throw new RangeError("do must be pause, resume, reset, name, accept or unlink");
}

async function named({ cluster, name }: Asked, { path, study }: DeviceFolder): Promise<string> {
  const clusters = lastStatus(path)?.device.centroids ?? [];
  const known = clusters.findIndex((_, c) => c === cluster);
  if (known === -1) throw new RangeError(`cluster must be a number from 0 to ${clusters.length - 1}`);
  if (typeof name !== "string" || name.length > LONGEST_NAME) {
    throw new RangeError(`name must be a text of at most ${LONGEST_NAME} characters`);
  }
  const scales = study.features.map(({ scale }) => scale);
  await nameCluster(path, clusters, scales, known, name.trim());
  return name.trim() === "" ? `Cluster ${known} has no name.` : `Cluster ${known} is called ${name.trim()}.`;
}

async function agreedOnPage({ study }: DeviceFolder, { acceptOpen }: Asked): Promise<void> {
  if (study.privacy !== "open" || acceptOpen === true) return;
  throw new RangeError(`acceptOpen must be true, because the study is open: ${whatNeighboursLearn.open}`);
}
