// The default of every option that several functions take: alpha, rounds, restarts and the rest have theirs here only.

/** It imports nothing, so that a command line can show these numbers without loading the algorithm. */
export const defaults = {
  /** Of the commands. The library wants alpha to be given. */
  alpha: 1,
  /** As many as in the paper. */
  rounds: 200,
  /** Multipliers need a few more. */
  consensusRounds: 300,
  /** Each is a flood. */
  fkmRounds: 10,
  /** (E1) (E2) (E3) (M) in one device update. */
  passes: 100,
  /** Of a device update and of a run over a network. */
  tol: 1e-12,
  /** Starts of k-means, of which the best counts. */
  restarts: 10,
  /** The reference of all methods gets twice as many. */
  pooledRestarts: 20,
  /** Lloyd's iterations; it comes to its end long before. */
  maxIter: 300,
  /** Points of a centroid that is flooded. */
  minimum: 1,
  /** Rows that nothing published tells apart, at least, where rows are guarded. */
  guardedMinimum: 10,
  seed: 0,
  preset: "dependable",
  schedule: "cyclic",
  coupling: "nearest",
  weighting: "device",
  penalty: "squared",
} as const;

/** A release of cells: a grid of more columns has more cells than rows to fill them. */
export const MOST_GRID_COLUMNS = 3;
