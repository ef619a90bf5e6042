import { describe, expect, test } from 'vitest';
import { createGatewayKeyDetector } from '../../../src/policy/detectors/gateway-key.ts';
import { detectors } from '../../../src/policy/detectors/registry.ts';

/** Each is repeated; they begin, again and again, what some detector looks for. */
const units = [
  '4',
  '4111 ',
  '4111-1111-',
  '@',
  'a@',
  'a@b.',
  '.',
  '1.',
  '1.2.3.4 ',
  '::',
  'fe80:',
  '-',
  '-----BEGIN',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA\n',
  'PuTTY-User-Key-File-2: ssh-rsa\n',
  ' ',
  '+1 ',
  '\n+1',
  '(',
  '(2',
  '123-45-',
  'ssn ',
  'DE89 ',
  'DE89',
  'sk-',
  'sk-proj-',
  'xoxb-a-',
  'npm_',
  'gw_a',
  'eyJhbGciOiJIUzI1NiJ9.',
  'http://a:b@',
  '://',
  'SECRET_ACCESS_KEY   ',
  'ops_eyA',
  's\u200bk-',
  '５',
  'é',
];

const small = 64_000;
const all = { ...detectors, gateway_key: createGatewayKeyDetector(['sk-a-provider-key-of-some-length']) };

/** Best of three, so that another program's turn on the processor is not taken for work. */
function bestMs(find: () => unknown): number {
  const times = [0, 1, 2].map(() => {
    const start = performance.now();
    find();
    return performance.now() - start;
  });
  return Math.min(...times);
}

describe.each(Object.entries(all))('%s on hostile text', (_, detector) => {
  test.each(units)('takes time in proportion to the length of repeated %j', (unit) => {
    const short = unit.repeat(Math.ceil(small / unit.length));
    const long = unit.repeat(Math.ceil((small * 4) / unit.length));

    const shortMs = bestMs(() => detector.find(short));
    const longMs = bestMs(() => detector.find(long));

    // Four times the text; sixteen times the work would be quadratic. Below a millisecond clocks say nothing.
    expect(longMs).toBeLessThan(12 * Math.max(shortMs, 1));
  });
});
