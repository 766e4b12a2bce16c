// The part of skmeans that the comparison calls; the package has no types.

declare module "skmeans" {
  export default function skmeans(
    data: number[][],
    k: number,
    initial: number[][],
    maxIterations: number,
  ): { readonly it: number; readonly idxs: number[]; readonly centroids: number[][] };
}
