import { expect, test } from 'vitest';
import { checkNode } from '../../src/cli/doctor/check-machine.ts';
import { parserProblem } from '../../src/http/strict-head.ts';

test('a Node with a lenient parser is reported, with the version that fixes it', () => {
  expect(parserProblem(true)).toContain('use Node 20.19.2 or newer');
  expect(checkNode(true)).toMatchObject({ status: 'warning', subject: 'node' });
});

test('any other is fine', () => {
  expect(parserProblem(false)).toBeUndefined();
  expect(checkNode(false)).toMatchObject({ status: 'ok', message: process.version });
});
