// How the pages are built: one folder of static files, which works from any file host.

import { paletteVariables } from "@fedkm/pictures";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

/** palette.css: the colours of all pictures as a style sheet, so that no page names a colour of its own. */
function palette(): Plugin {
  const file = "\0palette.css";
  return {
    name: "palette",
    resolveId: (id) => (id.endsWith("/palette.css") ? file : undefined),
    load: (id) => (id === file ? paletteVariables() : undefined),
  };
}

export default defineConfig({
  root: import.meta.dirname,
  // Addresses inside the pages are relative, so that they work in any folder.
  base: "./",
  plugins: [palette(), svelte()],
  worker: { format: "es" },
  build: {
    outDir: "site",
    emptyOutDir: true,
    target: "es2023",
    rollupOptions: {
      input: ["index.html", "playground.html", "dashboard.html"].map((page) => `${import.meta.dirname}/${page}`),
    },
  },
});
