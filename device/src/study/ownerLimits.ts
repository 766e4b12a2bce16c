// What the owner of a device allows, whatever a study says: its limits as they stand in the device's folder. Light to load.

/** The parts of a study that an owner consents to one by one, in their order, and what all devices learn in each. */
export const stageWords = {
  describe:
    "how the rows of all devices are spread over each column, how many are missing, and which words are frequent",
  choose: "sums over small groups of rows of all devices, from which the number of clusters follows",
  fit: "how many rows of all devices each cluster has, and their means",
  validate: "how well the clusters fit the rows of all devices, and whether other draws of rows give the same",
} as const;
export type StudyStage = keyof typeof stageWords;
/** Stages of a study to which an owner can consent. */
export const studyStages = Object.keys(stageWords) as readonly StudyStage[];

/** Kept in the device's folder; what is absent limits nothing. */
export interface OwnerLimits {
  /** No sum of fewer rows of this device is told to anybody. */
  readonly minRows?: number;
  /** What may be spent of the rows in all, where a study is private. */
  readonly maxEpsilon?: number;
  /** Columns that no study may read here. */
  readonly never?: readonly string[];
  /** Stages that the device takes part in. Absent: all. */
  readonly consent?: readonly StudyStage[];
}

/** Whether the owner consents to a stage. A device without consent adds nothing to it. */
export function mayRun({ consent = studyStages }: OwnerLimits, stage: StudyStage): boolean {
  return consent.includes(stage);
}

/** Throws one line that names the limit and its rule. */
export function checkLimits(value: OwnerLimits): OwnerLimits {
  const { minRows, maxEpsilon, never, consent, ...rest } = value;
  const fail = (name: string, rule: string, got: unknown) => {
    throw new RangeError(`${name} of limits must be ${rule}, got ${JSON.stringify(got)}`);
  };
  const [stranger] = Object.keys(rest);
  if (stranger !== undefined) fail(stranger, "left out (limits are minRows, maxEpsilon, never, consent)", value);
  if (minRows !== undefined && !(Number.isSafeInteger(minRows) && minRows >= 1))
    fail("minRows", "an integer of at least 1", minRows);
  if (maxEpsilon !== undefined && !(maxEpsilon > 0 && Number.isFinite(maxEpsilon)))
    fail("maxEpsilon", "a number above 0", maxEpsilon);
  if (never !== undefined && !(Array.isArray(never) && never.every((name) => typeof name === "string")))
    fail("never", "a list of columns", never);
  if (consent !== undefined && !(Array.isArray(consent) && consent.every((stage) => studyStages.includes(stage))))
    fail("consent", `a list of stages (${studyStages.join(", ")})`, consent);
  return value;
}
