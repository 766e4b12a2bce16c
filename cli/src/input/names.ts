// What devices are called: after their files, as shortly as tells them apart.

import { basename } from "node:path";

/** A file's name without its folder and its endings. */
export function plainName(file: string): string {
  const name = basename(file);
  return (
    name.replace(/(\.(csv|tsv|tab|txt|jsonl|ndjson|json|parquet|pq|xlsx|xlsm|npy|npz))?(\.gz|\.zip)?$/i, "") || name
  );
}

/** One name a file; folders are added in front where plain names are the same. */
export function deviceNames(files: readonly string[]): string[] {
  const parts = files.map((file) => file.replaceAll("\\", "/").split("/").slice(0, -1));
  const names = files.map(plainName);
  for (let depth = 1; new Set(names).size < names.length && parts.some((own) => own.length >= depth); depth++) {
    const repeated = names.map((name) => names.indexOf(name) !== names.lastIndexOf(name));
    repeated.forEach((isRepeated, i) => {
      const folder = parts[i].at(-depth);
      if (isRepeated && folder !== undefined) names[i] = `${folder}/${names[i]}`;
    });
  }
  // Files that differ only in their endings.
  return new Set(names).size < names.length ? [...files] : names;
}
