import { describe, expect, test } from 'vitest';
import { atLeast } from '../../../src/policy/detectors/detector.ts';
import { detectors } from '../../../src/policy/detectors/registry.ts';
import { createGatewayKeyDetector } from '../../../src/policy/detectors/secrets/gateway-key.ts';
import { growth } from '../../kit/growth.ts';

/** Each is repeated; they begin, again and again, what some detector looks for. */
const units = [
  ...`
    4 4111-1111- @ a@ a@b. . 1. :: fe80: - -----BEGIN ( (2 123-45- DE89 sk- sk-proj- xoxb-a- npm_ gw_a
    eyJhbGciOiJIUzI1NiJ9. http://a:b@ :// ops_eyA ５ é acme_live_ acme_sk_0a1B2c3D4e5F6g7H a1_ a1- a_1.
    0a1b2c3d4e5f/ acme_0a1b2c3d4e5f/ acme_0a1b2c3d4e5f+ 0a1B2c3D4e5F6g7H8i9J. https://a.example/hook/
    hooks/0a1b2c3d4e5f6071 api_key: token=" key pass- secret=0a1B2c3D4e5F6g7H パスワード
  `
    .trim()
    .split(/\s+/),
  '4111 ',
  '+49 30 901820 ',
  '1.2.3.4 ',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEA\n',
  'PuTTY-User-Key-File-2: ssh-rsa\n',
  `LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t${'A'.repeat(40)}\n`,
  'LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t ',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.aB3dE5fG7hI9jK1lM3nO5pQ7 ',
  'auth: "YWRtaW46VnE3clQybVg5Yw==", ',
  'x_id = "acme_lz0wqc7q1HzcCOabc1Zt", ',
  `password = "${'password'.repeat(40)}X1", `,
  "password = 'aB3$ xQ9%dE5& zR7*gH1) kL2(mN4- pQ6+sT8' ",
  ' ',
  '+1 ',
  '\n+1',
  'ssn ',
  'DE89 ',
  'sk-ant-api03-0a1b2c3d4e5f\n',
  'dop_v1_0a1b2c3d4e5f6071" + "',
  'eyJhbGciOiJIUzI1NiJ9\n',
  'SECRET_ACCESS_KEY   ',
  's\u200bk-',
  '$a1~',
  'password = ',
  '\ntoken="a ',
  '\ntoken="a \\',
  '\ntoken=\'a "\npass="b \'',
  `\nSECRET="a ${'!'.repeat(3000)}a"`,
  `\nSECRET="a ${'['.repeat(3000)}a"`,
  `\nSECRET="a ${'Abc'.repeat(1000)}1é"`,
  `\nSECRET="${'aB3$ xQ9%\n'.repeat(300)}"`,
  'password: &str ',
  'token, "value": ',
  '-u a:',
  'curl -u a:b',
];

const small = 32_000;
const times = 8;
/** Eight times the text takes eight times as long where work is linear, sixty-four where it is quadratic. */
const limit = 3 * times;
const all = { ...detectors, gateway_key: createGatewayKeyDetector(['sk-a-provider-key-of-some-length']) };

const sizes = (unit: string) => ({
  small: unit.repeat(Math.ceil(small / unit.length)),
  large: unit.repeat(Math.ceil((small * times) / unit.length)),
  limit,
});

describe.each(Object.entries(all))('%s on hostile text', (_, detector) => {
  test.each(units)('is linear in the length of repeated %j', (unit) => {
    const find = (text: string) => atLeast(detector, 'possible').find(text);

    expect(growth(find, sizes(unit))).toBeLessThan(limit);
  });
});

test('a search that is quadratic does not pass for linear', () => {
  const quadratic = (text: string) => {
    let count = 0;
    for (let start = 0; start < text.length; start += 16) {
      for (let end = start; end < text.length; end += 16) count += text.charCodeAt(end) & 1;
    }
    return count;
  };

  expect(growth(quadratic, sizes('ab'))).toBeGreaterThan(limit);
});
