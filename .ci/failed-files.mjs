// usage: failed-files.mjs REPORT.json LOG
// The test files of a vitest run that failed, one to a line: by its JSON report those with a failed test, by what it
// printed those during which an error was thrown that no test caught (such a run fails without a failed test).
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const [report, log] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8'));
const failed = JSON.parse(report).testResults.filter(({ status }) => status === 'failed');
const uncaught = stripVTControlCharacters(log).matchAll(/This error originated in "([^"]+)" test file/g);
for (const file of new Set([
  ...failed.map(({ name }) => relative('.', name)),
  ...Array.from(uncaught, ([, file]) => file),
]))
  console.log(file);
