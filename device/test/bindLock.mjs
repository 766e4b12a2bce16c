// A process that holds a lock until it is killed, as a device does.

import { createServer } from "node:net";

createServer((socket) => socket.destroy()).listen(process.argv[2], () => process.send("locked"));
