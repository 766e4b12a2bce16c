// What TypeScript cannot see in files of other kinds.

declare module "*.svelte" {
  import type { Component } from "svelte";

  const component: Component;
  export default component;
}
declare module "*.css";
