// npm run engines: which database servers the tests of sources find on this machine. It installs nothing.

import { missingEngines } from "../lab/dist/engines/index.js";

const missing = missingEngines();
if (missing.length === 0) console.log("PostgreSQL and ClickHouse are installed. The tests start and stop them.");
for (const line of missing) console.log(`Not installed, so its tests are skipped: ${line}`);
