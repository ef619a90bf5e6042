// usage: failed-files.mjs REPORT.json
// The test files of a vitest JSON report with a failed test, one to a line.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
for (const { name, status } of testResults) if (status === 'failed') console.log(relative('.', name));
