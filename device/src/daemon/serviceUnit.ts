// The systemd unit under which devices of a machine run as services, one instance for each, with as few rights as they need.

import { dirname } from "node:path";

/** `command`: how fedkm is started, as a line of the unit; `state`: the folder of one of the devices. */
export function serviceUnit(command: string, state: string): string {
  const folder = dirname(state);
  // What lies below /var/lib is made by systemd; any other folder is only opened for writing.
  const writable =
    folder === "/var/lib/fedkm"
      ? ["StateDirectory=fedkm/%i", "StateDirectoryMode=0700"]
      : [`ReadWritePaths=${folder}/%i`];
  return `${[...beginning(command, folder), ...writable, ...limits].join("\n")}\n`;
}

/** The file name of the unit for systemd. */
export const SERVICE_UNIT_FILE = "fedkm-device@.service";

const beginning = (command: string, folder: string) => [
  "# Devices as services, written by fedkm device install: systemctl enable --now fedkm-device@north",
  "[Unit]",
  "Description=fedkm device %i",
  "Wants=network-online.target",
  "After=network-online.target",
  "StartLimitIntervalSec=0",
  "",
  "[Service]",
  "# /etc/fedkm/north.env may hold FEDKM_FLAGS=--metrics 9464, and passwords of sources.",
  "EnvironmentFile=-/etc/fedkm/%i.env",
  `ExecStart=${command} device run --state ${folder}/%i $FEDKM_FLAGS`,
  "User=fedkm",
  "Group=fedkm",
];

const limits = [
  "UMask=0077",
  "Restart=always",
  "RestartSec=2",
  "TimeoutStopSec=30",
  "MemoryMax=512M",
  "TasksMax=64",
  "LimitCORE=0",
  "",
  "# Nothing of the system but the network, its state and, read only, the data files.",
  "# Not MemoryDenyWriteExecute: JavaScript and WebAssembly are compiled while they run.",
  "NoNewPrivileges=yes",
  "CapabilityBoundingSet=",
  "ProtectSystem=strict",
  "ProtectHome=read-only",
  "ProtectProc=invisible",
  "PrivateTmp=yes",
  "PrivateDevices=yes",
  "PrivateUsers=yes",
  "PrivateIPC=yes",
  "RemoveIPC=yes",
  "ProtectClock=yes",
  "ProtectHostname=yes",
  "ProtectKernelLogs=yes",
  "ProtectKernelModules=yes",
  "ProtectKernelTunables=yes",
  "ProtectControlGroups=yes",
  "RestrictNamespaces=yes",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK",
  "LockPersonality=yes",
  "KeyringMode=private",
  "SystemCallArchitectures=native",
  "SystemCallFilter=@system-service",
  "SystemCallFilter=~@privileged @resources @obsolete",
  "SystemCallErrorNumber=EPERM",
  "",
  "[Install]",
  "WantedBy=multi-user.target",
];
