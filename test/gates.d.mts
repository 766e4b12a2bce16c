// Types of the gates, for their test.

interface Lock {
  readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
type Sizes = Readonly<Record<string, number>>;

export function licenceFaults(lock: Lock): string[];
export function integrityFaults(lock: Lock): string[];
export function apiFaults(name: string, recorded: string, found: string): string[];
export function sizeFaults(sizes: Sizes, budget: Sizes): string[];
