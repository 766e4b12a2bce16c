// A browser as a device: Chromium joins two devices in Node over WebSocket, and the three agree as fit does.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  complete,
  fit,
  globalCentroidDeviation,
  kmeans,
  matrix,
  objective,
  paperData,
  stack,
  toRows,
} from "@fedkm/core";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { createViteServer } from "vitest/node";
import { launchChromium, browserTest as test } from "../../../core/test/hosts/chromium.ts";
import { createDevice } from "../../src/change/studyLoop.ts";
import { realClock } from "../../src/environment.ts";
import { nodeSecrets } from "../../src/keys/nodeSecrets.ts";
import { createIdentity, libp2pNetwork } from "../../src/links/libp2pNetwork.ts";
import { volatileMemory } from "../../src/loop/savedState.ts";
import type { DeviceStatus } from "../../src/loop/status.ts";
import { contractOf, formatStudy, type Study } from "../../src/study/study.ts";
import { studyOfPoints } from "../../src/study/studyOfPoints.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));

let browser: Browser;
let cache = "";
beforeAll(async () => {
  cache = mkdtempSync(join(tmpdir(), "fedkm-browser-"));
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  rmSync(cache, { recursive: true, force: true });
});

const { datasets } = paperData("iso", 3, 100, 5);
const personal = studyOfPoints(datasets, ["x", "y"], { name: "three" });
const shared: Study = { ...personal, alpha: 0, clusters: "shared", colluders: 1 };

/** A device in this process that listens for TCP and WebSocket. */
async function nodeDevice(
  study: Study,
  index: number,
  identity: Awaited<ReturnType<typeof createIdentity>>,
  others: readonly string[],
) {
  const network = libp2pNetwork({
    identity,
    listen: ["/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/tcp/0/ws"],
    links: others.map((peer) => ({ peer, addresses: [] })),
    onStranger: () => {},
    onRefuse: (peer, reason) => expect.unreachable(`${peer} ${reason}`),
  });
  const device = createDevice({
    study,
    contract: await contractOf(study),
    network,
    clock: realClock,
    memory: volatileMemory(1),
    links: others,
    rows: datasets[index],
    secrets: nodeSecrets(identity),
  });
  await device.start();
  return { device, network };
}

/** Serves the sources as they are; what they import from elsewhere is bundled once. */
function serve() {
  return createViteServer({
    root,
    configFile: false,
    logLevel: "error",
    cacheDir: cache,
    resolve: { conditions: ["source", "module", "browser", "development|production"] },
    optimizeDeps: {
      noDiscovery: true,
      include: [
        "libp2p",
        "@libp2p/crypto/keys",
        "@libp2p/noise",
        "@libp2p/peer-id",
        "@libp2p/tcp",
        "@libp2p/websockets",
        "@libp2p/yamux",
        "@multiformats/multiaddr",
        "@noble/ciphers/aes.js",
        "@noble/curves/ed25519.js",
        "@noble/hashes/hkdf.js",
        "@noble/hashes/sha2.js",
        "yaml",
      ],
    },
    server: { host: "127.0.0.1", port: 0, hmr: false, watch: null },
  });
}

/** Where two devices in this process and one in a page come to rest. */
async function settledWith(study: Study): Promise<readonly DeviceStatus[]> {
  const server = await serve();
  const identities = [await createIdentity(), await createIdentity()];
  const open: { network: { close(): Promise<void> }; device: { stop(): void } }[] = [];
  try {
    await server.listen();
    const page = await browser.newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(`${server.resolvedUrls?.local[0]}device/test/browser/page.html`);
    const inPage = <T>(call: string): Promise<T> =>
      page.evaluate(`import("/device/test/browser/pageDevice.ts").then((device) => device.${call})`);
    const peer: string = await inPage("peer()");
    const first = await nodeDevice(study, 0, identities[0], [identities[1].peer, peer]);
    const second = await nodeDevice(study, 1, identities[1], [identities[0].peer, peer]);
    open.push(first, second);
    const [overTcp] = first.network.addresses();
    second.network.setLinks([
      { peer, addresses: [] },
      { peer: identities[0].peer, addresses: [overTcp] },
    ]);
    const links = [first, second].map(({ network }) => ({
      peer: network.self,
      addresses: network.addresses().filter((address) => address.endsWith("/ws")),
    }));
    await inPage(`start(${JSON.stringify({ studyText: formatStudy(study), rows: toRows(datasets[2]), links })})`);

    const statuses = await vi.waitFor(
      async () => {
        const all = [first.device.status(), second.device.status(), await inPage<DeviceStatus>("status()")];
        for (const { phase, neighbours } of all) {
          expect(neighbours.map(({ framesHeard }) => framesHeard > 0)).toEqual([true, true]);
          expect(phase).toBe("settled");
        }
        return all;
      },
      { timeout: 600_000, interval: 200 },
    );
    expect(faults).toEqual([]);
    await page.close();
    return statuses;
  } finally {
    for (const { device } of open) device.stop();
    await Promise.all(open.map(({ network }) => network.close()));
    await server.close();
  }
}

test("Chromium joins two devices over WebSocket, and the three agree", async () => {
  const statuses = await settledWith(personal);
  const centroids = statuses.map((status) => matrix(status.centroids ?? []));
  const reached = objective(datasets, centroids, complete(3), { alpha: personal.alpha });
  const model = fit(datasets, complete(3), { k: 3, alpha: 1, schedule: "cyclic", rounds: 2_000, seed: 1 });
  expect(Math.abs(reached / model.objective - 1)).toBeLessThan(1e-3);
});

test("Chromium shares clusters with two devices: its pads meet those of Node, and all have the same answer", async () => {
  const statuses = await settledWith(shared);
  const { centroids } = kmeans(stack(datasets), { k: 3, restarts: 10 });
  for (const status of statuses) {
    expect(status.centroids).toEqual(statuses[0].centroids);
    expect(status.shared).toMatchObject({ devices: 3, pooledRows: 300 });
  }
  expect(globalCentroidDeviation([matrix(statuses[0].centroids ?? [])], centroids)).toBeLessThan(1e-12);
});
