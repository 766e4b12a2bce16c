// The columns of a row that say what came out.

export const measureColumns = [
  "gcd",
  "cv",
  "gcd_aligned",
  "cv_aligned",
  "wrong_devices",
  "cost_ratio",
  "nmi",
  "nmi_own",
  "ari",
  "objective",
  "objective_rises",
  "recovered_clusters",
  "rounds",
  "converged",
  "messages",
  "bytes",
  "largest_rise",
  "relative_residual",
  "own_cost_ratio",
] as const;
