#!/usr/bin/env node
// CommonJS, alone in this package: Node's loader for ES modules would take a third of the time of --version.
'use strict';

if (process.argv.length === 3 && process.argv[2] === '--version') {
  process.stdout.write(`${require('../package.json').version}\n`);
} else {
  require('../dist/main.js'); // it sets the exit code itself
}
