// How long ago something was, in words, and what is too old to be believed.

import type { DeviceView } from "./snapshot.ts";

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
