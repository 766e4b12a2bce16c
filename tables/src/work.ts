// How long work is watched and stopped: what a caller gives besides a request. Nothing here prints or waits.

import type { Kernel, Matrix } from "@fedkm/core";

/** How far the work is. */
export type Progress =
  /** A file or a source is read, of a file so many bytes, of a source so many rows. */
  | { readonly step: "read"; readonly name: string; readonly bytes?: number; readonly rows?: number }
  /** A source that was away is asked again. */
  | { readonly step: "retry"; readonly name: string }
  | { readonly step: "fit"; readonly method: string; readonly devices: number }
  | { readonly step: "round"; readonly round: number; readonly most: number; readonly objective: number }
  /** Over all rows of sources: begins without a number. */
  | { readonly step: "pass"; readonly pass?: number; readonly objective?: number }
  | { readonly step: "simulate"; readonly milliseconds: number; readonly objective: number }
  | { readonly step: "choose" }
  /** Rows are written with their labels; the share is of all rows. */
  | { readonly step: "label"; readonly name: string; readonly share: number }
  | { readonly step: "report" }
  | { readonly step: "certify" };

/** How long work is watched and stopped. */
export interface WorkContext {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Runs one long piece that awaits nothing, such as under a watch for Ctrl-C. Default: just so. */
  readonly compute?: (<T>(work: () => T | Promise<T>) => Promise<T>) | undefined;
  /** Runs work with a kernel that suits these rows, such as one of several threads. Default: with core's own. */
  readonly withKernel?:
    | (<T>(datasets: readonly Matrix[], work: (kernel: Kernel | undefined) => Promise<T>) => Promise<T>)
    | undefined;
}

export async function computeWork<T>({ compute: run, signal }: WorkContext, work: () => T | Promise<T>): Promise<T> {
  signal?.throwIfAborted();
  return run === undefined ? work() : run(work);
}

export function reportWorkProgress({ onProgress, signal }: WorkContext, progress: Progress): void {
  signal?.throwIfAborted();
  onProgress?.(progress);
}
