// The status of a settled device with one link, for tests.

import type { DaemonStatus } from "../../src/daemon/status.ts";

export const northStatus: DaemonStatus = {
  version: 1,
  isRunning: true,
  pid: 7,
  name: "north",
  studyHash: "00",
  startedAt: "2026-01-01T00:00:00.000Z",
  writtenAt: "2026-01-01T00:00:01.000Z",
  addresses: [],
  memoryBytes: 64e6,
  delayMilliseconds: 2,
  device: {
    peer: "me",
    study: "demo",
    phase: "settled",
    rows: 100,
    rowsLeftOut: 2,
    epoch: 1,
    round: 12,
    move: null,
    threshold: 1e-7,
    objective: 1.5,
    framesSent: 40,
    centroids: [[123.456]],
  },
  links: [
    {
      name: 'so"uth',
      peer: "you",
      addresses: [],
      isConnected: true,
      isAway: false,
      age: 1500,
      framesHeard: 3,
      framesRefused: { order: 2 },
      refusal: null,
      sent: { frames: 4, bytes: 376 },
      received: { frames: 3, bytes: 279 },
      replaced: 1,
      failure: null,
    },
  ],
  pending: [],
  notice: null,
};
