// Passwords: from the environment or from a file that only its owner can read, and never from a command line.

import { readFileSync, statSync } from "node:fs";
import { type Address, PASSWORD_VARIABLES } from "./address.ts";
import { SourceError } from "./driver.ts";

export function passwordOf({ scheme, passwordEnv, passwordFile }: Address, env: NodeJS.ProcessEnv): string | undefined {
  if (passwordFile === undefined) {
    const name = passwordEnv ?? PASSWORD_VARIABLES[scheme];
    if (passwordEnv !== undefined && env[name] === undefined) {
      throw new SourceError(`the variable ${name} must hold the password, and is not set`);
    }
    return env[name];
  }
  const { mode } = statSync(passwordFile);
  if ((mode & 0o077) !== 0) {
    throw new SourceError(`${passwordFile}: only its owner may read a file of a password: chmod 600 ${passwordFile}`);
  }
  return readFileSync(passwordFile, "utf8").replace(/\r?\n$/, "");
}

/** Hosts whose connections do not leave the machine. */
export function isLocal(host: string): boolean {
  return host === "" || host === "localhost" || host === "::1" || host.startsWith("/") || /^127(\.\d+){3}$/.test(host);
}
