// node probe-health.mjs PORT: asks for /healthz again and again; says that it has begun, and the longest wait
// in ms at SIGTERM, and at each SIGUSR2 that since the last one.
import { Agent, get } from 'node:http';

const port = Number(process.argv[2]);
const agent = new Agent({ keepAlive: true });
let longest = 0;
let beganMs = 0;

await ask();
const say = () => console.log(Math.max(longest, performance.now() - beganMs).toFixed(1));
process.on('SIGUSR2', () => {
  say();
  longest = 0;
});
process.on('SIGTERM', () => {
  say();
  process.exit(0);
});
console.log('begun');
for (;;) {
  await ask();
  longest = Math.max(longest, performance.now() - beganMs);
  await new Promise((resolve) => setTimeout(resolve, 2));
}

function ask() {
  beganMs = performance.now();
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: '/healthz', agent }, (response) =>
      response.on('end', resolve).resume(),
    ).on('error', reject);
  });
}
