// Drivers of databases, which only those install who need them.

import { createRequire } from "node:module";

const { peerDependencies } = createRequire(import.meta.url)("../package.json") as {
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** A failure that the user can fix, in one line. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

export async function importDriver<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as { code?: string }).code !== "ERR_MODULE_NOT_FOUND") throw error;
    // With the range: all versions of some drivers are prereleases, of which npm takes none without being told.
    const install = `npm install "${name}@${peerDependencies[name]}"`;
    throw new SourceError(`this source needs ${name}, which is not installed: ${install}`);
  }
}
