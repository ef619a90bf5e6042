#!/usr/bin/env node
// CommonJS, alone in this package: Node's loader for ES modules would take a third of the time of --version.
// In the JavaScript of Node 6, so that an old one reads it and can say what is missing.
'use strict';

const minimum = [20, 18, 1];
const current = process.versions.node.split('.').map(Number);
const differing = minimum.findIndex((part, i) => part !== current[i]);

if (differing >= 0 && current[differing] < minimum[differing]) {
  const needed = minimum.join('.');
  process.stderr.write(`gateway: Node ${needed} or newer is needed, and this is ${process.version}\n`);
  process.exitCode = 1;
} else if (process.argv.length === 3 && process.argv[2] === '--version') {
  process.stdout.on('error', (error) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`gateway: the output could not be written: ${error.message}\n`);
    process.exitCode = 1;
  });
  process.stdout.write(`${require('../package.json').version}\n`);
} else {
  require('../dist/main.js'); // it sets the exit code itself
}
