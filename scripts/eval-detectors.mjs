// How well the detectors do on texts of yours: npm run eval:detectors -- FOLDER|FILE.jsonl [--examples N]
import { parseArgs } from 'node:util';
import { loadTypeScript } from './load-typescript.mjs';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { examples: { type: 'string', default: '5' } },
});
const [path, ...others] = positionals;
if (path === undefined || others.length > 0 || !/^\d+$/.test(values.examples)) {
  console.error('usage: npm run eval:detectors -- FOLDER|FILE.jsonl [--examples N]');
  process.exit(64);
}
await loadTypeScript('/scripts/evaluate-detectors.ts', ({ evaluate, readTexts, renderReport }) => {
  process.stdout.write(renderReport(evaluate(readTexts(path)), Number(values.examples)));
}).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
