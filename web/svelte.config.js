// Svelte as it is; TypeScript in components is stripped of its types by the compiler itself.
export default {};
