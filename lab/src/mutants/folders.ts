// The folders in which errors are planted by chance, the tests that should notice.

export interface MutatedFolder {
  readonly folder: string;
  /** Share of errors that must be noticed. */
  readonly least: number;
  readonly tests: readonly string[];
}

export const mutatedFolders: readonly MutatedFolder[] = [
  {
    folder: "device/src/keys",
    least: 0.9,
    tests: [
      "device/test/keys/",
      "device/test/disk/revocationFile",
      "device/test/disk/rotationFile",
      "device/test/disk/identityFile",
      "device/test/daemon/runningKeys",
      "device/test/sharedClusters/secrets",
    ],
  },
  { folder: "device/src/disk", least: 0.9, tests: ["device/test/disk/"] },
  { folder: "core/src/privacy", least: 0.9, tests: ["core/test/privacy/"] },
  { folder: "core/src/release", least: 0.9, tests: ["core/test/release/"] },
  { folder: "core/src/choose", least: 0.9, tests: ["core/test/choose/"] },
  { folder: "web/src/server", least: 0.9, tests: ["web/test/server.test.ts", "web/test/doors.test.ts"] },
  { folder: "tables/src/fit", least: 0.8, tests: ["tables/test/", "cli/test/report.test.ts"] },
  { folder: "files/src/table", least: 0.8, tests: ["files/test/"] },
  { folder: "files/src/csv", least: 0.8, tests: ["files/test/"] },
  { folder: "files/src/parquet", least: 0.8, tests: ["files/test/"] },
  { folder: "files/src/xlsx", least: 0.8, tests: ["files/test/"] },
];
