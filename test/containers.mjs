// npm run containers: builds the image of deploy/Containerfile on a base of Debian's, and runs a hub and three sites of it in
// network namespaces. Sites let nobody in and out to one port only: 443 of the hub, then the port of an HTTP proxy. They must
// agree with `fit --study` within 60 s of their start. Needs root, a registry and the tools below; says so where they are missing.
// FEDKM_CONTAINERS names a folder that keeps base and image from run to run.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const PROXY_PORT = 3128;
/** Runs as the proxy: connects where it is asked to, and says where that is. */
if (process.argv[2] === "proxy") {
  const proxy = createServer().on("connect", ({ url = "" }, socket) => {
    console.log(`CONNECT ${url}`);
    const [host, port] = url.split(":");
    const onward = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    for (const end of [onward, socket]) end.on("error", () => [onward, socket].map((one) => one.destroy()));
  });
  proxy.listen(PROXY_PORT);
  await once(proxy, "close");
}

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "fedkm-containers-"));
const store = process.env.FEDKM_CONTAINERS ?? join(folder, "store");
const MOST_SECONDS = 60;
/** As a share of the columns' ranges: devices stop sending below a millionth. */
const MOST_DIFFERENCE = 1e-3;

const tools = ["buildah", "debootstrap", "ip", "iptables"];
const missing = tools.filter((tool) => spawnSync("sh", ["-c", `command -v ${tool}`]).status !== 0);
if (process.getuid?.() !== 0 || missing.length > 0) {
  const lacks = process.getuid?.() === 0 ? missing.join(", ") : "root";
  console.log(`not run: needs root and ${tools.join(", ")}; here there is no ${lacks}`);
  process.exit(process.env.FEDKM_EVERY_TEST === "1" ? 1 : 0);
}

function run(command, args, options = {}) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${status}\n${stdout}${stderr}`);
  return stdout.trim();
}

const places = ["--root", join(store, "images"), "--runroot", join(store, "run"), "--storage-driver", "vfs"];
const buildah = (...args) => run("buildah", [...places, ...args]);
const fedkm = (...args) => run(process.execPath, [join(root, "cli/bin/fedkm.js"), ...args], { cwd: folder });

function timed(what, work) {
  const begun = performance.now();
  const result = work();
  console.log(`good  ${what}: ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  return result;
}

/** Debian's smallest system with this machine's Node: what a public image of Node is to users. */
function makeBase() {
  if (buildah("images", "--format", "{{.Name}}").includes("fedkm-base")) return;
  const base = join(store, "base");
  run("debootstrap", ["--variant=minbase", "--include=libstdc++6,ca-certificates", "bookworm", base]);
  const npm = join(process.execPath, "../../lib/node_modules/npm");
  cpSync(process.execPath, join(base, "usr/bin/node"));
  cpSync(npm, join(base, "usr/lib/node_modules/npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(base, "usr/bin/npm"));
  for (const unused of ["var/cache/apt", "var/lib/apt", "usr/share/doc", "usr/share/locale", "usr/share/man"]) {
    rmSync(join(base, unused), { recursive: true, force: true });
  }
  // Whom this machine trusts to speak for the registry.
  cpSync("/etc/ssl/certs/ca-certificates.crt", join(base, "etc/ssl/certs/ca-certificates.crt"));
  const container = buildah("from", "scratch");
  buildah("copy", "--quiet", container, base, "/");
  buildah("config", "--env", "NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt", container);
  buildah("commit", "--quiet", "--rm", container, "localhost/fedkm-base");
  rmSync(base, { recursive: true });
}

function buildImage() {
  run(process.execPath, [join(root, "deploy/pack.mjs"), join(folder, "packs")]);
  const file = [
    "--format",
    "docker",
    "--build-arg",
    "BASE=localhost/fedkm-base",
    "-f",
    join(root, "deploy/Containerfile"),
  ];
  buildah("build", "--isolation", "chroot", ...file, "-t", "localhost/fedkm", join(folder, "packs"));
}

/** As its image says: the user, the program, what it runs, and how its health is looked at. */
function imageConfig() {
  const { config } = JSON.parse(buildah("inspect", "--type", "image", "localhost/fedkm")).Docker;
  if (config.User !== "10001:10001") throw new Error(`the image must not run as root, got user ${config.User}`);
  return { entry: config.Entrypoint, command: config.Cmd, health: config.Healthcheck.Test.slice(1) };
}

// The network: a switch, and a namespace for each machine beside it.

const names = ["hub", "east", "south", "west"];
const sites = names.slice(1);
const hosts = { hub: "10.79.0.1", proxy: "10.79.0.2", east: "10.79.0.11", south: "10.79.0.12", west: "10.79.0.13" };
const named = (machine) => `fedkm-c-${machine}`;
const ip = (...args) => run("ip", args);
const inside = (machine) => ["netns", "exec", named(machine)];

function layNetwork() {
  ip("netns", "add", named("switch"));
  ip("-n", named("switch"), "link", "add", "lan", "type", "bridge");
  ip("-n", named("switch"), "link", "set", "lan", "up");
  for (const [machine, host] of Object.entries(hosts)) {
    ip("netns", "add", named(machine));
    ip("-n", named(machine), "link", "set", "lo", "up");
    ip(
      "link",
      "add",
      "eth0",
      "netns",
      named(machine),
      "type",
      "veth",
      "peer",
      "name",
      machine,
      "netns",
      named("switch"),
    );
    ip("-n", named(machine), "address", "add", `${host}/24`, "dev", "eth0");
    ip("-n", named(machine), "link", "set", "eth0", "up");
    ip("-n", named("switch"), "link", "set", machine, "master", "lan", "up");
    // As Docker and Podman set it for what they start: a port below 1024 needs no root within.
    ip(...inside(machine), "sysctl", "-qw", "net.ipv4.ip_unprivileged_port_start=0");
  }
}

function removeNetwork() {
  for (const machine of ["switch", ...Object.keys(hosts)]) spawnSync("ip", ["netns", "delete", named(machine)]);
}

/** Nobody gets in, and out goes only what is for this host and port. */
function closeSite(site, host, port) {
  const rule = (...args) => ip(...inside(site), "iptables", ...args);
  rule("-F");
  for (const chain of ["INPUT", "OUTPUT", "FORWARD"]) rule("-P", chain, "DROP");
  rule("-A", "INPUT", "-i", "lo", "-j", "ACCEPT");
  rule("-A", "OUTPUT", "-o", "lo", "-j", "ACCEPT");
  rule("-A", "INPUT", "-m", "conntrack", "--ctstate", "ESTABLISHED", "-j", "ACCEPT");
  rule("-A", "OUTPUT", "-p", "tcp", "-d", host, "--dport", String(port), "-j", "ACCEPT");
}

/** Whether a connection from one machine to a port of another stands within 2 s. */
function canConnect(from, host, port) {
  const script = `const s = require("node:net").connect(${port}, "${host}"); setTimeout(() => process.exit(1), 2000);
    s.on("connect", () => process.exit(0)); s.on("error", () => process.exit(1));`;
  return spawnSync("ip", [...inside(from), process.execPath, "-e", script]).status === 0;
}

/** Three clusters, of which every machine has other shares. */
function writeRows() {
  let state = 7;
  const random = () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 31;
  };
  for (const [n, name] of names.entries()) {
    const rows = Array.from({ length: 150 }, (_, r) => {
      const cluster = r % (3 + n) < 2 ? 0 : r % 2 === 0 ? 1 : 2;
      const [x, y] = [
        [20, 20],
        [50, 70],
        [80, 30],
      ][cluster];
      return [x + 12 * (random() - 0.5), y + 12 * (random() - 0.5)].map((value) => value.toFixed(3)).join(",");
    });
    mkdirSync(join(folder, "data", name), { recursive: true });
    writeFileSync(join(folder, "data", name, `${name}.csv`), `x,y\n${rows.join("\n")}\n`);
  }
}

const { entry, command, health } = (() => {
  mkdirSync(store, { recursive: true });
  timed("a base by debootstrap", makeBase);
  timed("the image of deploy/Containerfile", buildImage);
  return imageConfig();
})();

/** One network from nothing: it is set up by the image's own commands, started, and compared. `env`: of the sites. */
async function trial(what, env) {
  const base = mkdtempSync(join(folder, "trial-"));
  const containers = new Map();
  const running = [];
  // Below the image's volume: buildah would put that over a folder of the same name.
  const containerArgs = (name, args) => {
    const volumes = [
      "-v",
      `${base}/${name}:/state/device`,
      "-v",
      `${folder}/data/${name}:/data:ro`,
      "-v",
      `${folder}/study.yaml:/study.yaml:ro`,
    ];
    const variables = name === "hub" ? [] : Object.entries(env).flatMap(([key, value]) => ["--env", `${key}=${value}`]);
    return [
      ...inside(name),
      "buildah",
      ...places,
      "run",
      "--isolation",
      "chroot",
      ...volumes,
      ...variables,
      containers.get(name),
      "--",
      ...args,
    ];
  };
  const device = (name, ...args) => run("ip", containerArgs(name, [...entry, ...args]));
  const logs = new Map();
  try {
    for (const name of names) {
      mkdirSync(join(base, name));
      run("chown", ["10001:10001", join(base, name)]);
      containers.set(name, buildah("from", "--pull-never", "localhost/fedkm"));
      const listen =
        name === "hub"
          ? ["--listen", "/ip4/0.0.0.0/tcp/443/tls/ws", "--announce", `/ip4/${hosts.hub}/tcp/443/tls/ws`]
          : [];
      device(
        name,
        "init",
        "--name",
        name,
        "--study",
        "/study.yaml",
        "--data",
        `/data/${name}.csv`,
        "--state",
        "/state/device",
        ...listen,
      );
    }
    const invite = (name) => device(name, "links", "--state", "/state/device").split("\n").at(-1);
    for (const site of sites) {
      device("hub", "link", invite(site), "--name", site, "--state", "/state/device");
      device(site, "link", invite("hub"), "--name", "hub", "--state", "/state/device");
    }
    const begun = performance.now();
    for (const name of names) {
      running.push(
        spawn("ip", containerArgs(name, [...entry, ...command]), {
          stdio: ["ignore", "ignore", "pipe"],
          detached: true,
        }),
      );
      // Not to a file: the last lines may come when the folder is gone.
      running.at(-1).stderr.on("data", (chunk) => logs.set(name, `${logs.get(name) ?? ""}${chunk}`.slice(-1500)));
    }
    const difference = await agreement(base, begun);
    const seconds = (performance.now() - begun) / 1000;
    for (const name of names) run("ip", containerArgs(name, health));
    console.log(
      `good  ${what}: ${difference.toExponential(1)} of the range from fit --study after ${seconds.toFixed(0)} s`,
    );
  } catch (error) {
    for (const name of names) {
      console.error(`${name}: ${logs.get(name) ?? "no log"}`);
    }
    throw error;
  } finally {
    // A group each: ip, buildah and the device.
    for (const { pid } of running) spawnSync("kill", ["-KILL", "--", `-${pid}`]);
    for (const container of containers.values()) spawnSync("buildah", [...places, "rm", container]);
  }
}

/** Waits until all are settled, with every link, and where `fit --study` is; returns how far from it they are. */
async function agreement(base, begun) {
  let last = "nothing was written";
  while (performance.now() - begun < 1000 * MOST_SECONDS) {
    await pause(500);
    try {
      const statuses = names.map((name) => JSON.parse(readFileSync(join(base, name, "status.json"), "utf8")));
      last = statuses
        .map(
          ({ name, device, links }) =>
            `${name} ${device.phase} ${links.filter((link) => link.isConnected).length}/${links.length} ${links.map(({ failure }) => failure ?? "").join(" ")}`,
        )
        .join("; ");
      const isSettled = statuses.every(
        ({ device, links }) => device.phase === "settled" && links.every((link) => link.isConnected),
      );
      if (!isSettled) continue;
      const far = Math.max(...statuses.map(({ device }, n) => farthest(device.centroids, expected.get(names[n]))));
      last = `${far} of the range apart`;
      if (far <= MOST_DIFFERENCE) return far;
    } catch (error) {
      last = String(error);
    }
  }
  throw new Error(`no agreement within ${MOST_SECONDS} s: ${last}`);
}

/** The farthest coordinate of centroids in any order, as a share of the range of 100. */
function farthest(one, other) {
  const distances = one.map((a) => Math.min(...other.map((b) => Math.max(...a.map((x, c) => Math.abs(x - b[c]))))));
  return Math.max(...distances) / 100;
}

let expected = new Map();
let proxy;
try {
  writeRows();
  fedkm("study", "init", "--k", "3", "--feature", "x:0:100", "y:0:100", "--out", "study.yaml");
  fedkm(
    "fit",
    ...names.map((name) => `data/${name}/${name}.csv`),
    "--study",
    "study.yaml",
    "--graph",
    "star",
    "--out",
    "fit",
  );
  const { devices } = JSON.parse(readFileSync(join(folder, "fit/model.json"), "utf8"));
  expected = new Map(devices.map(({ name, centroids }) => [name, centroids]));
  removeNetwork();
  layNetwork();
  for (const site of sites) closeSite(site, hosts.hub, 443);
  await trial("three sites that may only dial 443 of the hub", {});
  const isShut =
    !canConnect("hub", hosts.east, 4601) &&
    !canConnect("east", hosts.south, 443) &&
    !canConnect("east", hosts.hub, 4601);
  if (!isShut) throw new Error("a site could be reached, or reached more than it may");
  for (const site of sites) closeSite(site, hosts.proxy, PROXY_PORT);
  const self = [process.execPath, fileURLToPath(import.meta.url), "proxy"];
  proxy = spawn("ip", [...inside("proxy"), ...self], { stdio: ["ignore", "pipe", "inherit"] });
  let tunnels = 0;
  proxy.stdout.on("data", (chunk) => {
    tunnels += String(chunk).split(`CONNECT ${hosts.hub}:443\n`).length - 1;
  });
  await trial("three sites that may only dial an HTTP proxy", { HTTPS_PROXY: `http://${hosts.proxy}:${PROXY_PORT}` });
  if (tunnels < sites.length) throw new Error(`the proxy must have made ${sites.length} tunnels, got ${tunnels}`);
} finally {
  proxy?.kill("SIGKILL");
  removeNetwork();
  rmSync(folder, { recursive: true, force: true });
}
