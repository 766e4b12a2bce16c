// stub replaced below
import type { Fitted } from "../fit/fit.ts";
export function reportPage(_: Fitted): string {
  return "";
}
