// Loaded before a script that an older Node could not even read.
const minimum = require('../package.json').engines.node.replace('>=', '').split('.').map(Number);
const current = process.versions.node.split('.').map(Number);
const differing = minimum.findIndex((part, i) => part !== current[i]);

if (differing >= 0 && current[differing] < minimum[differing]) {
  process.stderr.write(`Node ${minimum.join('.')} or newer is needed, and this is ${process.version}\n`);
  process.exit(1);
}
