// What a dashboard shows: plain data that whoever serves it puts together, whole each time.

export interface Snapshot {
  readonly health: HealthView;
  readonly devices: readonly DeviceView[];
}

/** What is sent when something is new: the health, which devices there are, and those that are others than before. */
export interface SnapshotNews {
  readonly health: HealthView;
  readonly ids: readonly string[];
  readonly devices: readonly DeviceView[];
}

/** How all devices are, the worst first. */
export interface HealthView {
  readonly devices: number;
  /** The alarm, if there is one, then the rest of the sentence; and since when. */
  readonly headline: { readonly alarm: string; readonly rest: string; readonly since: number | null };
  /** How many devices each cause is about, the worst first. */
  readonly summary: readonly string[];
  readonly isAlarm: boolean;
  /** There is evidence from every device that nothing is wrong. */
  readonly isWell: boolean;
  readonly findings: readonly FindingView[];
}

export interface FindingView {
  readonly cause: string;
  readonly isAlarm: boolean;
  /** Of the device. */
  readonly id: string;
  readonly device: string;
  readonly link: string | null;
  /** Words after the device's name, then whole sentences. */
  readonly what: string;
  readonly why: string;
  readonly action: string;
  /** Milliseconds since 1970; null: not known. */
  readonly since: number | null;
}

/** A device as the dashboard shows it. */
export interface DeviceView {
  /** How actions name it; unique on the page. */
  readonly id: string;
  readonly name: string;
  readonly peer: string;
  /** Whether its process answers, is gone, or holds its lock and says nothing; null: not known yet. */
  readonly lock: "answers" | "free" | "silent" | null;
  /** When it wrote what follows, in milliseconds since 1970. */
  readonly writtenAt: number;
  readonly phase: string;
  readonly startedAt: string;
  readonly dataReadAt: string;
  readonly study: StudyView;
  readonly privacy: PrivacyView;
  readonly rows: number;
  readonly rowsLeftOut: number;
  readonly round: number;
  readonly objective: number | null;
  /** Largest move of the last update, as a share of a feature's range; a smaller one than `threshold` is not sent. */
  readonly move: number | null;
  readonly threshold: number;
  readonly framesSent: number;
  readonly memoryBytes: number;
  /** In the features' units. */
  readonly clusters: readonly (readonly number[])[] | null;
  /** What the owner calls each of them; null: nothing. */
  readonly names: readonly (string | null)[];
  /** What the device's own rows in each are like; null: not known yet, or too many rows to read them again. */
  readonly profiles: readonly ClusterProfile[] | null;
  readonly links: readonly LinkView[];
  readonly pending: readonly { readonly peer: string; readonly address: string; readonly attempts: number }[];
  readonly notices: readonly NoticeView[];
  /** The latest entries of the audit log, the newest first. */
  readonly log: readonly { readonly at: string; readonly text: string }[];
  /** Close together lately, farther apart long ago; the oldest first. */
  readonly history: readonly { readonly at: number; readonly objective: number; readonly move: number }[];
}

export interface ClusterProfile {
  /** Own rows that are nearest to it. */
  readonly rows: number;
  /** In the feature's unit, and how far the mean is from that of all own rows, in their standard deviations. */
  readonly features: readonly { readonly mean: number; readonly spread: number; readonly difference: number }[];
}

interface StudyView {
  readonly name: string;
  readonly hash: string;
  readonly k: number;
  readonly alpha: number;
  readonly features: readonly { readonly name: string; readonly unit: string; readonly scale: number }[];
}

interface PrivacyView {
  readonly mode: string;
  /** What a neighbour can learn, in one sentence. */
  readonly words: string;
  /** Further facts, each with its name: the smallest class, rows held back. */
  readonly facts: readonly { readonly name: string; readonly value: string }[];
  /** Of a private device; null: it is not private. */
  readonly ledger: LedgerView | null;
}

/** What was released of a private device's rows, and what that has cost. */
interface LedgerView {
  readonly epsilonSpent: number;
  /** The most that may ever be spent. */
  readonly epsilonLifetime: number;
  readonly delta: number;
  readonly releases: number;
  /** What others see now and what comes next, or what is wrong. */
  readonly words: string;
  /** Whether a person has to look at it. */
  readonly needsPerson: boolean;
}

interface LinkView {
  readonly name: string;
  readonly peer: string;
  readonly isConnected: boolean;
  readonly isAway: boolean;
  /** The neighbour through which it is reached; null: it is reached directly, or not at all. */
  readonly via: string | null;
  /** When it was last heard, in milliseconds since 1970; null: never. */
  readonly heardAt: number | null;
  readonly bytesSent: number;
  readonly bytesHeard: number;
  readonly framesRefused: number;
  /** Of its terms in updates, the share that was left out as too far away; null: not known. */
  readonly rejectedShare: number | null;
  /** Why it cannot be reached, or is not heard. */
  readonly problem: string | null;
}

interface NoticeView {
  readonly cause: string;
  readonly text: string;
  readonly since: string;
  readonly until: string | null;
}

/** What a person may ask for. */
export type Action =
  | { readonly do: "pause" | "resume" | "reset"; readonly device: string }
  /** An empty name takes it away. */
  | { readonly do: "name"; readonly device: string; readonly cluster: number; readonly name: string }
  | { readonly do: "unlink"; readonly device: string; readonly peer: string }
  /** In an open study, a person must agree to what neighbours can learn. */
  | { readonly do: "accept"; readonly device: string; readonly peer: string; readonly acceptOpen: boolean };

// How long ago something was, in words, and what is too old to be believed.

/** A device that lives writes every 15 s; twice as long without is too long. */
const FRESH_MILLISECONDS = 30_000;

export function ageText(milliseconds: number): string {
  const age = Math.max(0, milliseconds);
  if (age < 90_000) return `${Math.round(age / 1000)} s`;
  if (age < 5_400_000) return `${Math.round(age / 60_000)} min`;
  return age < 172_800_000 ? `${Math.round(age / 3_600_000)} h` : `${Math.round(age / 86_400_000)} days`;
}

/** What a device says of itself is of now only if its process answers and it wrote lately. */
export function isStale({ lock, writtenAt }: Pick<DeviceView, "lock" | "writtenAt">, now: number): boolean {
  return lock !== "answers" || now - writtenAt > FRESH_MILLISECONDS;
}
