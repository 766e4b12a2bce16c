// Types of the gates, for their test.

interface Lock {
  readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
interface Comment {
  readonly name: string;
  readonly comment: string;
  readonly isInternal: boolean;
}
interface PublicName extends Comment {
  readonly package: string;
  readonly path: string;
  readonly file: string;
  readonly examples: readonly string[];
  readonly options: readonly Comment[];
}
type Sizes = Readonly<Record<string, number>>;

export function licenceFaults(lock: Lock): string[];
export function integrityFaults(lock: Lock): string[];
export function apiFaults(name: string, recorded: string, found: string): string[];
export function publicNames(packages: readonly string[], condition?: "types" | "source"): PublicName[];
export function commentFaults(
  found: readonly Pick<PublicName, "name" | "package" | "comment" | "isInternal" | "options">[],
): string[];
export function sizeFaults(sizes: Sizes, budget: Sizes): string[];
