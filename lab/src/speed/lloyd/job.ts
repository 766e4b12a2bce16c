// What is asked of every program that takes part in the comparison of Lloyd iterations, and what it answers.

/** `jobs` data sets of m points; the first k points of each are where it starts. */
export interface Job {
  readonly program: "ours" | "lloyd64" | "lloyd32" | "faiss" | "ml-kmeans" | "skmeans";
  readonly m: number;
  readonly d: number;
  readonly k: number;
  readonly jobs: number;
  /** Most iterations. */
  readonly cap: number;
  /** Most runs, of which the fastest counts. */
  readonly repeats: number;
  /** No run begins after so many seconds. */
  readonly budget: number;
  /** Files: the points, float64, row after row; where labels are left, uint32. */
  readonly points: string;
  readonly labels: string;
}

export interface Answer {
  /** CPU seconds of the fastest run. */
  readonly seconds: number;
  /** Of all jobs together. */
  readonly iterations: number;
}
