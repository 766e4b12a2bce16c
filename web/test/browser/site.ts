// The built pages behind a plain file server, and a browser to look at them.

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname } from "node:path";
import type { Browser, Page } from "playwright-core";
import { launchChromium } from "../../../core/test/hosts/chromium.ts";
import { site } from "../../src/served.ts";

const types: Record<string, string> = {
  ...{ ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2" },
  ...{ ".svg": "image/svg+xml", ".png": "image/png", ".json": "application/json" },
};

export interface Site {
  readonly origin: string;
  /** The playground at this address behind "#". */
  open(address: string, options?: PageOptions): Promise<OpenedPage>;
  /** Any page of the site. */
  openFile(path: string, options?: PageOptions): Promise<OpenedPage>;
  close(): Promise<void>;
}

interface OpenedPage {
  readonly page: Page;
  /** Nothing may go wrong: this is what did. */
  readonly errors: readonly string[];
}

interface PageOptions {
  readonly colorScheme?: "light" | "dark";
  readonly width?: number;
}

export async function openSite(): Promise<Site> {
  const server = await serve();
  const browser: Browser = await launchChromium();
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const openFile: Site["openFile"] = async (path, { colorScheme = "light", width = 1440 } = {}) => {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, reducedMotion: "reduce" });
    page.setDefaultTimeout(60_000);
    const errors: string[] = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", ({ message }) => errors.push(message));
    page.on("request", (request) => request.url().startsWith(origin) || errors.push(`asked for ${request.url()}`));
    await page.goto(`${origin}${path}`);
    return { page, errors };
  };
  return {
    origin,
    async open(address, options) {
      const opened = await openFile(`playground.html#${address}`, options);
      await opened.page.locator("canvas").first().waitFor();
      return opened;
    },
    openFile,
    async close() {
      await browser.close();
      server.close();
    },
  };
}

async function serve(): Promise<Server> {
  const server = createServer(({ url = "/" }, response) => {
    const file = new URL(`.${url === "/" ? "/index.html" : url}`, site);
    try {
      const body = readFileSync(file);
      response.writeHead(200, { "content-type": types[extname(file.pathname)] ?? "application/octet-stream" });
      response.end(body);
    } catch {
      response.writeHead(url === "/favicon.ico" ? 204 : 404);
      response.end();
    }
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return server;
}
