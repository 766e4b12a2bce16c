// What a person asks for on the dashboard's page, checked and done as the commands do it.

import { privacyWords } from "../study/promises.ts";
import { LONGEST_NAME, nameCluster } from "./clusterNames.ts";
import { type DeviceFolder, readFolder } from "./folder.ts";
import { waitingPeers } from "./folderFacts.ts";
import { lastStatus } from "./lastStatus.ts";
import { acceptStranger, pauseDevice, resetDevice, unlinkPeer } from "./ownerChanges.ts";

/** What a request for an action may hold; nothing of it is checked yet. */
type ActionRequest = Readonly<Partial<Record<"do" | "device" | "peer" | "acceptOpen" | "cluster" | "name", unknown>>>;

/** `known` are the folders of the page's devices. Resolves to a sentence for the person. */
export async function performAction(body: unknown, known: ReadonlyMap<string, string>): Promise<string> {
  const request: ActionRequest = typeof body === "object" && body !== null ? body : {};
  const path = typeof request.device === "string" ? known.get(request.device) : undefined;
  if (path === undefined) throw new RangeError("device must be one of this page");
  const warnings: string[] = [];
  const sentence = await changeDevice(request, await readFolder(path), (warning) => warnings.push(warning));
  return [sentence, ...warnings].join(" ");
}

async function changeDevice(
  request: ActionRequest,
  folder: DeviceFolder,
  warn: (warning: string) => void,
): Promise<string> {
  const { name } = folder;
  const when = (isRunning: boolean) => (isRunning ? "within a few seconds" : "when it is run");
  const { do: action, peer } = request;
  switch (action) {
    case "reset": {
      const { isRunning } = await resetDevice(folder, warn);
      const network = isRunning ? ", and the whole network with it" : "";
      return `${name} begins again from its own rows ${when(isRunning)}${network}.`;
    }
    case "pause":
    case "resume": {
      const isRunning = await pauseDevice(folder, action === "pause", warn);
      return `${name} ${action === "pause" ? "is paused" : "goes on"} ${when(isRunning)}.`;
    }
    case "name":
      return renameCluster(request, folder);
    case "unlink": {
      if (!folder.links.some((link) => link.peer === peer)) throw new RangeError("peer must be linked");
      const [link] = await unlinkPeer(folder, String(peer), warn);
      return `${link.name} is unlinked.`;
    }
    case "accept": {
      const stranger = waitingPeers(folder).find((one) => one.peer === peer);
      if (stranger === undefined) throw new RangeError("peer must be one that waits to be linked back");
      if (folder.study.privacy === "open" && request.acceptOpen !== true) {
        throw new RangeError(
          `acceptOpen must be true, because the study is open: ${privacyWords({ privacy: "open" })}`,
        );
      }
      const linked = await acceptStranger(folder, { peer: stranger.peer, allowRevoked: false }, warn);
      return `${linked} is linked; it connects within half a minute.`;
    }
    default:
      throw new RangeError("do must be pause, resume, reset, name, accept or unlink");
  }
}

async function renameCluster({ cluster, name }: ActionRequest, { path, study }: DeviceFolder): Promise<string> {
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
