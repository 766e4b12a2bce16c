// Frames of version 2 as they were first written, frozen: whoever speaks version 2 reads and writes these. Never change them.

const HEAD = "66646b6d02";
const STUDY = "0102030405060708090a0b0c0d0e0f10";

/** k = 2, d = 1; the stamp is epoch 4328719365, sequence 7. */
export const frames2 = {
  /** Both centroids, 1.5 and -2, in opening 3 with table a1b2c3d4 and seed 01020304. */
  centroids: [
    HEAD,
    "0102000100",
    "0000",
    STUDY,
    "0504030201000000",
    "0700000000000000",
    "0300000000000000",
    "d4c3b2a1",
    "04030201",
    "03",
    "000000000000f83f",
    "00000000000000c0",
  ].join(""),
  /** The same without the first centroid, with the sketch of origin 17 and the same version as the epoch: 1.5, nothing. */
  sketch: [
    HEAD,
    "0102000100",
    "0100",
    STUDY,
    "0504030201000000",
    "0700000000000000",
    "0300000000000000",
    "d4c3b2a1",
    "04030201",
    "02",
    "0000000000000000",
    "00000000000000c0",
    "1100000000000000",
    "0504030201000000",
    "ff00",
    "000000000000f83f",
    "0000000000000000",
  ].join(""),
  /** The text {"name":"x"}. */
  study: [HEAD, "0202000100", "0000", STUDY, "00".repeat(16), "7b226e616d65223a2278227d"].join(""),
  /** The stamp was taken, epoch 513 was refused, both come. */
  order: [HEAD, "0302000100", "0100", STUDY, "0504030201000000", "0700000000000000", "0102000000000000"].join(""),
  /** This study is run, and one of hash 20 21 ... 2f and text {"name":"y"} is being changed to; an answer is asked for. */
  statement: [
    HEAD,
    "0602000100",
    "0100",
    STUDY,
    "00".repeat(16),
    "202122232425262728292a2b2c2d2e2f",
    "7b226e616d65223a2279227d",
  ].join(""),
};
