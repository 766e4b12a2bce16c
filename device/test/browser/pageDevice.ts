// A device in a web page: the same loop as anywhere, over WebSocket, with a key and a memory that live as long as the page.

import { type Matrix, matrix } from "@fedkm/core";
import { createDevice } from "../../src/change/studyLoop.ts";
import { realClock } from "../../src/environment.ts";
import { pageSecrets } from "../../src/keys/pageSecrets.ts";
import { type Contact, createIdentity, type Identity, libp2pNetwork } from "../../src/links/libp2pNetwork.ts";
import type { Device } from "../../src/loop/device.ts";
import { volatileMemory } from "../../src/loop/savedState.ts";
import type { DeviceStatus } from "../../src/loop/status.ts";
import { contractOf, parseStudy } from "../../src/study/study.ts";

let identity: Identity | undefined;
let device: Device | undefined;

export async function peer(): Promise<string> {
  identity ??= await createIdentity();
  return identity.peer;
}

export interface PageOptions {
  readonly studyText: string;
  readonly rows: readonly (readonly number[])[];
  readonly links: readonly Contact[];
}

export async function start({ studyText, rows, links }: PageOptions): Promise<void> {
  identity ??= await createIdentity();
  const study = parseStudy(studyText);
  const points: Matrix = matrix(rows);
  device = createDevice({
    study,
    contract: await contractOf(study),
    clock: realClock,
    memory: volatileMemory(Date.now()),
    links: links.map((link) => link.peer),
    rows: points,
    secrets: pageSecrets(identity),
    network: libp2pNetwork({
      identity,
      listen: [],
      links,
      transports: ["websocket"],
      onStranger: () => {},
      onRefuse: (other, reason) => console.error(other, reason),
    }),
  });
  await device.start();
}

export function status(): DeviceStatus | undefined {
  return device?.status();
}
