// A study held against the limits of a device's owner: the stricter of both counts, or the device stays out of the study.

import { mayRun, type OwnerLimits } from "./ownerLimits.ts";
import { budgetOf, isOpenStudy, type Study } from "./study.ts";
import { studyColumns } from "./tableRows.ts";

/** The study as this device treats its own rows. What devices compute together, and the hash, are those of the study itself. */
export function limitedStudy(study: Study, { minRows = 1, maxEpsilon }: OwnerLimits): Study {
  const minimum = Math.max(study.minimum, minRows);
  if (study.privacy !== "private" || maxEpsilon === undefined) return { ...study, minimum };
  return { ...study, minimum, lifetimeEpsilon: Math.min(budgetOf(study).lifetime, maxEpsilon) };
}

/** Why a device stays out of a study, for its owner alone; undefined: it takes part. */
export function limitsFault(study: Study, limits: OwnerLimits): string | undefined {
  const { minRows, maxEpsilon, never = [] } = limits;
  const { privacy } = study;
  const named = [...studyColumns(study).columns, ...(study.personColumn === undefined ? [] : [study.personColumn])];
  const forbidden = named.find((name) => never.some((column) => sameColumn(column, name)));
  if (forbidden !== undefined) return `the study reads column "${forbidden}", which this device never gives`;
  const { epsilon } = budgetOf(study);
  if (privacy === "private" && maxEpsilon !== undefined && epsilon > maxEpsilon)
    return `the study spends epsilon ${epsilon}, this device at most ${maxEpsilon}`;
  // Without noise only a minimum protects, and an open study has none.
  if (privacy === "guarded" && minRows === undefined && maxEpsilon !== undefined)
    return `the study adds no noise, this device allows epsilon ${maxEpsilon} and no sums without it`;
  if (privacy === "open" && (minRows !== undefined || maxEpsilon !== undefined))
    return "the study is open and shows single rows, this device limits what is shown";
  const stage = isOpenStudy(study) ? "describe" : "fit";
  return mayRun(limits, stage) ? undefined : `its owner has not consented to the stage ${stage}`;
}

/** Files and databases may write a name otherwise; whoever forbids a column means it all the same. */
const sameColumn = (a: string, b: string) => plainName(a) === plainName(b);
const plainName = (name: string) => name.normalize("NFKC").trim().replace(/\s+/g, " ").toLowerCase();
