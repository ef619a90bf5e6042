// node rehearse.mjs BUILD FOLDER: starts the gateway of dist/, sends a request through it, and keeps what V8 has compiled of
// the program by then. FOLDER is for its configuration and state.
import { hash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

const [build, folder] = process.argv.slice(2);
const key = 'made-up-key-of-the-rehearsal';
const pollMs = 10;
const longestMs = 15_000;

const entry = join(import.meta.dirname, `../../dist/program-${build}.js`);
const require = createRequire(entry);
const { compileFile, compiledCodeOf, compiledFileOf, load, wrapped } = require(`./load-program-${build}.js`);
const file = compiledFileOf(entry);
// Compiled code counts only under the flags of the moment in which it is kept, and the program changes some as it runs.
require('node:v8').setFlagsFromString = () => undefined;

// Also where the build that waits was killed.
setTimeout(() => {
  throw new Error(`no answer within ${longestMs} ms`);
}, longestMs);

const provider = await startProvider();
const port = await freePort();
const configuration = join(folder, 'gateway.yaml');
writeFileSync(configuration, configurationFor(provider.address().port));
process.argv.splice(2, 2, 'serve', '-c', configuration, '-p', String(port), '--quiet');

const loaded = [];
load(entry, (path) => {
  const text = readFileSync(path);
  if (text.includes('import(')) return undefined;
  const source = wrapped(text);
  const script = compileFile(path, source);
  loaded.push({ name: basename(path), source, script });
  return script;
});
while (!(await isAnswered())) await new Promise((resolve) => setTimeout(resolve, pollMs));
mkdirSync(dirname(file), { recursive: true });
writeFileSync(`${file}.new`, compiledCodeOf(loaded));
renameSync(`${file}.new`, file);
process.exit(0); // nothing of its state is kept

function startProvider() {
  const answer = {
    id: '1',
    object: 'chat.completion',
    created: 1,
    model: 'made-up',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
  };
  return listen((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
    response.end(JSON.stringify(answer));
  });
}

async function freePort() {
  const server = await listen();
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listen(onRequest) {
  const server = createServer(onRequest);
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', () => resolve(server));
  });
}

/** Every kind of condition that most policies have. */
function configurationFor(providerPort) {
  return `
providers:
  rehearsal: { dialect: openai, base_url: 'http://127.0.0.1:${providerPort}/v1', api_key: made-up-key }
models:
  - { match: '*', provider: rehearsal }
policies:
  rehearsal:
    apply: all
    rules:
      - { id: secrets, action: mask, when: { text: { detect: [secrets, private_key, email] } } }
      - { id: words, action: block, when: { text: { phrases: [project nightfall] } } }
      - { id: patterns, action: warn, when: { text: { regex: ['ACME-[0-9]{5}'] } } }
projects:
  rehearsal: { keys: [{ id: rehearsal, hash: 'sha256:${hash('sha256', key)}' }] }
plants: { store: { enabled: false } }
`;
}

/** Not before the gateway listens. Rejects where it can't be reached at all. */
async function isAnswered() {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ model: 'made-up', messages: [{ role: 'user', content: 'Say that it is done.' }] }),
  }).catch((error) => {
    if (error.cause?.code !== 'ECONNREFUSED') throw error;
  });
  await answer?.arrayBuffer();
  return answer?.status === 200;
}
