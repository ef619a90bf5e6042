// node probe-health.mjs PORT: asks for /healthz again and again; says that it has begun, and at SIGTERM the longest wait in ms.
import { Agent, get } from 'node:http';

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });
let longest = 0;
let beganMs = 0;

process.on('SIGTERM', () => {
  console.log(Math.max(longest, performance.now() - beganMs).toFixed(1));
  process.exit(0);
});
await ask();
longest = 0;
console.log('begun');
for (;;) {
  await ask();
  longest = Math.max(longest, performance.now() - beganMs);
}

function ask() {
  beganMs = performance.now();
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/healthz', agent }, (response) =>
      response.on('end', resolve).resume(),
    ).on('error', reject);
  });
}
