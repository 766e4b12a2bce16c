// The Python that has the peers: found, or completed from Debian's packages where that is allowed.

import { spawnSync } from "node:child_process";

/** Module -> the Debian package that brings it. */
const PACKAGES = {
  numpy: "python3-numpy",
  sklearn: "python3-sklearn",
  faiss: "python3-faiss",
  pandas: "python3-pandas",
  openpyxl: "python3-openpyxl",
} as const;
type PeerModule = keyof typeof PACKAGES;

export interface Python {
  readonly command: string;
  readonly modules: ReadonlySet<PeerModule>;
}

const MODULES = Object.keys(PACKAGES) as PeerModule[];
/** The second is the system's own, which Debian's packages are for, where another stands before it on the PATH. */
const COMMANDS = ["python3", "/usr/bin/python3"];

/** One thread for every library that could use more. */
export const ONE_THREAD = { OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };

let python: Python | undefined;

/** The Python with most of the peers, looked for once; missing ones are installed if we are root and this is Debian. */
export function findPython(): Python {
  python ??= completePython();
  return python;
}

function completePython(): Python {
  const found = bestPython();
  const missing = MODULES.filter((name) => !found.modules.has(name)).map((name) => PACKAGES[name]);
  if (missing.length === 0) return found;
  if (process.getuid?.() === 0 && isRunnable("apt-get")) {
    console.log(`installing peers with apt-get: ${missing.join(" ")}`);
    aptGet("update");
    for (const name of missing) aptGet("install", "--yes", "--no-install-recommends", name);
  }
  return bestPython();
}

/** What to print where a peer should stand. */
export function toInstall(modules: readonly PeerModule[], { modules: has }: Python): string[] {
  return modules.filter((name) => !has.has(name)).map((name) => `not available: ${PACKAGES[name]}`);
}

function bestPython(): Python {
  const candidates = COMMANDS.map((command) => ({ command, modules: modulesOf(command) }));
  return candidates.reduce((best, other) => (other.modules.size > best.modules.size ? other : best));
}

function modulesOf(command: string): ReadonlySet<PeerModule> {
  const program = "import importlib.util, sys; print(*[m for m in sys.argv[1:] if importlib.util.find_spec(m)])";
  const { status, stdout } = spawnSync(command, ["-c", program, ...MODULES], { encoding: "utf8" });
  const names = status === 0 ? stdout.trim().split(" ") : [];
  return new Set(MODULES.filter((name) => names.includes(name)));
}

function isRunnable(command: string): boolean {
  return spawnSync(command, ["--version"]).status === 0;
}

function aptGet(...words: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["-q", ...words], { env, stdio: "ignore" });
}
