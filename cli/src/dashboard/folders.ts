// What the dashboard shows and does of devices on this machine: it reads and changes their folders, as commands do.

import { basename } from "node:path";
import {
  changeLinks,
  type DaemonStatus,
  isLocked,
  type LinkStatus,
  readFolder,
  resetFolder,
  withLink,
  withoutLink,
} from "@fedkm/device/daemon";
import type { Action, DeviceView, LinkView, Snapshot } from "@fedkm/web";
import { modelOfFolder } from "../devices/model.ts";
import { statusReader } from "../devices/state.ts";
import type { Source } from "./server.ts";

/** Of objective and move, so many points are kept for the curves. */
const MOST_HISTORY = 600;

type History = DeviceView["history"];

/** `folders` are those of devices, each with a name of its own. */
export function folderSource(folders: readonly string[]): Source {
  const known = new Map(folders.map((folder) => [basename(folder), folder]));
  const read = statusReader();
  const histories = new Map<string, History>();
  const studies = new Map<string, DeviceView["study"]>();
  return {
    async snapshot() {
      const devices: DeviceView[] = [];
      for (const [id, folder] of known) {
        const status = read(folder);
        if (status === undefined) continue;
        const history = withStatus(histories.get(id) ?? [], status);
        histories.set(id, history);
        const study = studies.get(status.studyHash) ?? (await studyOf(folder, status.studyHash));
        studies.set(status.studyHash, study);
        devices.push(viewOf(id, status, await isLocked(folder), study, history));
      }
      return JSON.stringify({ devices } satisfies Snapshot);
    },
    act: (request) => carryOut(request, known),
    async exported(id) {
      const folder = known.get(id);
      const model = folder === undefined ? undefined : await modelOfFolder(folder).catch(() => undefined);
      return model && { name: `${id}.json`, text: `${JSON.stringify(model, undefined, 2)}\n` };
    },
  };
}

function withStatus(history: History, { writtenAt, device }: DaemonStatus): History {
  const at = Date.parse(writtenAt);
  const { objective, move } = device;
  if (objective === null || move === null || history.at(-1)?.at === at) return history;
  return [...history.slice(-MOST_HISTORY + 1), { at, objective, move }];
}

async function studyOf(folder: string, hash: string): Promise<DeviceView["study"]> {
  const { study } = await readFolder(folder);
  const { name, k, alpha, features } = study;
  return { name, hash, k, alpha, features: features.map((feature) => ({ name: feature.name, unit: feature.unit })) };
}

function viewOf(
  id: string,
  status: DaemonStatus,
  isRunning: boolean,
  study: DeviceView["study"],
  history: History,
): DeviceView {
  const { name, startedAt, dataReadAt, memoryBytes, device, links, pending, notices } = status;
  const { peer, phase, rows, rowsLeftOut, round, objective, move, threshold, framesSent, centroids } = device;
  return {
    id,
    name,
    peer,
    isRunning,
    isPaused: false,
    phase,
    startedAt,
    dataReadAt,
    study,
    privacy: { mode: "open", words: "", facts: [] },
    rows,
    rowsLeftOut,
    round,
    objective,
    move,
    threshold,
    framesSent,
    memoryBytes,
    clusters: centroids,
    links: links.map((link) => linkView(link, Date.parse(status.writtenAt))),
    pending,
    notices,
    log: [],
    history,
  };
}

function linkView(link: LinkStatus, writtenAt: number): LinkView {
  const { name, peer, isConnected, isAway, age, sent, received, framesRefused, refusal, failure } = link;
  return {
    name,
    peer,
    isConnected,
    isAway,
    heardAt: age === null ? null : writtenAt - age,
    bytesSent: sent.bytes,
    bytesHeard: received.bytes,
    framesRefused: Object.values(framesRefused).reduce((sum, times) => sum + times, 0),
    rejectedShare: null,
    problem: refusal ?? (isConnected ? null : failure),
  };
}

async function carryOut(request: unknown, known: ReadonlyMap<string, string>): Promise<string> {
  const action = request as Partial<Action> & { readonly peer?: unknown };
  const folder = typeof action?.device === "string" ? known.get(action.device) : undefined;
  if (folder === undefined) throw new RangeError("device must be one of this page");
  if (action.do === "reset") {
    await resetFolder(folder, new Date());
    return "It begins again from its own rows, and the whole network with it.";
  }
  const { peer } = action;
  if (typeof peer !== "string") throw new RangeError("peer must be a peer id");
  if (action.do === "unlink") {
    const { links } = await readFolder(folder);
    const link = links.find((own) => own.peer === peer);
    if (link === undefined) throw new RangeError("peer must be linked");
    await changeLinks(folder, (own) => withoutLink(own, link.name));
    return `${link.name} is unlinked.`;
  }
  if (action.do === "accept") {
    const waits = statusReader()(folder)?.pending.some((stranger) => stranger.peer === peer);
    if (waits !== true) throw new RangeError("peer must be one that waits to be linked back");
    const name = peer.slice(-8);
    await changeLinks(folder, (own) => withLink(own, { peer, name, addresses: [] }));
    return `${name} is linked; it connects within half a minute.`;
  }
  throw new RangeError("do must be pause, resume, reset, accept or unlink");
}
