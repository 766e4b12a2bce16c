// No module on purpose: older versions of TypeScript, which cannot read our types, name this file in their error.
