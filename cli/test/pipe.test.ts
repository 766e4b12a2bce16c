// fedkm pipe as a program in another language meets it: frames in, frames out, and what comes of anything else.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { complete, type Matrix, methods, paperData } from "@fedkm/core";
import { decodePipeFrames, encodePipeFrame, type Frame } from "@fedkm/files/frames";
import { clustersInModelOrder } from "@fedkm/tables";
import { expect, it } from "vitest";

const command = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));

function pipe(input: Uint8Array) {
  return spawnSync(process.execPath, [command, "pipe"], { input, maxBuffer: 2 ** 26 });
}

function frame(header: Frame["header"], arrays: readonly Matrix[] = []): Buffer {
  return Buffer.concat([...encodePipeFrame(header, arrays)]);
}

async function framesOf(bytes: Buffer): Promise<Frame[]> {
  // In pieces of a size that falls into every part of a frame.
  const pieces = async function* () {
    for (let from = 0; from < bytes.length; from += 7) yield bytes.subarray(from, from + 7);
  };
  return gathered(decodePipeFrames(pieces()));
}

async function gathered(frames: AsyncIterable<Frame>): Promise<Frame[]> {
  const all: Frame[] = [];
  for await (const one of frames) all.push(one);
  return all;
}

it("pipe answers one request after the other, and a refusal does not end it", async () => {
  const { datasets } = paperData("var", 3, 40, 1);
  const ask = { ask: "fit", request: { k: 3, alpha: 1 } };
  const { stdout, status } = pipe(
    Buffer.concat([
      frame({ ...ask, request: { k: 3, alpha: -1 } }, datasets),
      frame({ ask: "dance" }),
      frame(ask, datasets),
      frame({ ask: "predict" }, [datasets[0], datasets[1]]),
    ]),
  );
  expect(status).toBe(0);
  const [hello, refused, strange, fitted, predicted] = await framesOf(stdout);
  expect(hello.header).toMatchObject({ pipe: 1 });
  expect(refused.header.refusal).toBe("alpha must be a finite number of at least 0, got -1");
  expect(strange.header.refusal).toBe('ask must be fit, partial or predict, got "dance"');
  const found = methods.fedkm(datasets, complete(3), { k: 3, alpha: 1, seed: 1, weighting: "sample" });
  expect(fitted.header).toMatchObject({ objective: found.objective, rounds: found.rounds, converged: true });
  expect(fitted.arrays.slice(0, 3)).toEqual(clustersInModelOrder(found.centroids, datasets));
  expect(fitted.arrays.slice(3).map(({ rows, cols }) => [rows, cols])).toEqual([
    [40, 1],
    [40, 1],
    [40, 1],
    [3, 2],
    [3, 3],
  ]);
  expect(predicted.arrays).toHaveLength(1);
});

it.each([
  ["bytes that are no frame", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "header must have at most 16777216 bytes"],
  ["a header that is no JSON", Buffer.from([3, 0, 0, 0, 1, 2, 3]), "header must be a JSON object"],
  ["a header without arrays", Buffer.concat([Buffer.from([2, 0, 0, 0]), Buffer.from("{}")]), "arrays must be a list"],
  ["a frame that breaks off", frame({ ask: "fit" }).subarray(0, 9), "a frame must be whole, got 5 of"],
])("pipe ends with one line after %s", (_, input, sentence) => {
  const { status, stderr } = pipe(input);
  expect(status).toBe(1);
  expect(String(stderr)).toMatch(/^fedkm: [^\n]*\n$/);
  expect(String(stderr)).toContain(sentence);
});
