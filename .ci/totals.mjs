// usage: totals.mjs REPORT.json …
// Adds up vitest's JSON reports. Where REPORT-again.json stands beside a report, its result counts for the files
// that failed in the first run.
import { existsSync, readFileSync } from 'node:fs';

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
let [passed, failed, skipped] = [0, 0, 0];
for (const file of process.argv.slice(2)) {
  const run = read(file);
  const again = file.replace(/\.json$/, '-again.json');
  const stillFailed = existsSync(again) ? read(again).numFailedTests : run.numFailedTests;
  passed += run.numPassedTests + run.numFailedTests - stillFailed;
  failed += stillFailed;
  skipped += run.numPendingTests + run.numTodoTests;
}
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
