#!/usr/bin/env node
// Stands here before anything is built, so that npm can link the command when it installs.

import "../dist/fedkm.js";
