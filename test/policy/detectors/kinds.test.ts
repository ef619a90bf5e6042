import { describe, expect, test } from 'vitest';
import { atLeast } from '../../../src/policy/detectors/detector.ts';
import type { DetectorName } from '../../../src/policy/detectors/names.ts';
import { detectors } from '../../../src/policy/detectors/registry.ts';
import { found } from './found.ts';

/** Published examples, from the standards and the offices that issue the numbers. */
test.each<[DetectorName, string, string]>(
  // biome-ignore format: a case a line
  [
    ['national_id', 'codice fiscale RSSMRA85T10A562S', 'RSSMRA85T10A562S'],
    ['national_id', 'Steuer-ID: 86095742719', '86095742719'],
    ['national_id', 'Aadhaar 2984 4886 3364', '2984 4886 3364'],
    ['national_id', 'DNI 12345678Z', '12345678Z'],
    ['national_id', 'PAN: ABCPE1234F', 'ABCPE1234F'],
    ['national_id', 'CNPJ 11.222.333/0001-81', '11.222.333/0001-81'],
    ['passport', 'L898902C36UTO7408122F1204159ZE184226B<<<<<10', 'L898902C36UTO7408122F1204159ZE184226B<<<<<10'],
    ['vin', 'VIN 1M8GDM9AXKP042788', '1M8GDM9AXKP042788'],
    ['imei', 'IMEI 490154203237518', '490154203237518'],
    ['crypto_wallet', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['crypto_wallet', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'],
    ['loopback_address', 'listen [::1]:80', '::1'],
    ['loopback_address', 'bind 0.0.0.0', '0.0.0.0'],
    ['coordinates', '{"lat": 52.5200, "lng": 13.4050}', '52.5200, "lng": 13.4050'],
  ],
)('%s in %s', (name, text, value) => {
  expect(found(detectors[name], text)).toEqual([value]);
});

describe('a slip in a checked number', () => {
  test.each<[DetectorName, string]>([
    ['national_id', 'DNI 12345678A'],
    ['national_id', 'codice fiscale RSSMRA85T10A562T'],
    ['passport', 'L898902C36UTO7408122F1204159ZE184226B<<<<<11'],
    ['vin', 'VIN 1M8GDM9AYKP042788'],
    ['imei', 'IMEI 490154203237517'],
    ['crypto_wallet', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD'],
    ['bank_routing', 'routing number 021000022'],
  ])('is no %s: %s', (name, text) => {
    expect(found(detectors[name], text)).toEqual([]);
  });
});

/** In sentences, as people write them. */
// biome-ignore format: a kind a line
const written: Readonly<Partial<Record<DetectorName, readonly string[]>>> = {
  ip_address: ['192.168.1.42', '203.0.113.7', '10.0.0.1', '2001:db8::7', 'fe80::1ff:fe23:4567:890a', '::ffff:203.0.113.7'],
  email: ['anna@example.com', 'a.b+tag@mail.example.co.uk', "o'neil@example.ie", 'юрий@почта.рф', 'ANNA@EXAMPLE.COM'],
  phone: ['+1 415 555 0123', '+442079460958', '+49 (0)171 5550123', '(415) 555-0123', '415-555-0123', '06 12 45 33 17', '090-2345-6789'],
  iban: ['DE89370400440532013000', 'DE89 3704 0044 0532 0130 00', 'gb82 west 1234 5698 7654 32', 'NO93-8601-1117-947', 'MT84MALT011000012345MTLCAST001S'],
};

test.each(Object.entries(written) as [DetectorName, readonly string[]][])(
  'each %s is found at the end of a sentence',
  (name, values) => {
    const texts = values.map((value) => `Please use ${value}.`);

    expect(texts.map((text) => found(detectors[name], text))).toEqual(values.map((value) => [value]));
  },
);

test.each<[DetectorName, string, readonly string[]]>([
  ['ip_address', '203.0.113.7:8080 and 2001:db8::/32', ['203.0.113.7', '2001:db8::']],
  ['email', '联系（anna@example.com）。', ['anna@example.com']],
  ['phone', 'Tel. 030 2345678', ['030 2345678']],
  ['phone', '电话：13812345678', ['13812345678']],
  ['phone', 'call me at 4155550123', ['4155550123']],
  ['iban', 'DE89 3704 0044 0532 0130 00 for me', ['DE89 3704 0044 0532 0130 00']],
  ['us_ssn', '512-43-9876', ['512-43-9876']],
  ['us_ssn', 'SSN 512 43 9876', ['512 43 9876']],
  ['us_ssn', 'social security number: 512439876', ['512439876']],
])('%s without what stands around it: %s', (name, text, values) => {
  expect(found(detectors[name], text)).toEqual(values);
});

test('a table of code points holds no telephone number', () => {
  expect(found(detectors.phone, '0043 0063 0073')).toEqual([]);
});

test('a private address is none that the internet routes', () => {
  expect(found(detectors.public_ip_address, 'from 10.0.0.7 and 192.168.1.4 to 91.198.174.192')).toEqual([
    '91.198.174.192',
  ]);
});

test('findings at possible include the likely ones', () => {
  const text = 'DNI 12345678Z, or 87654321X';

  expect(found(detectors.national_id, text)).toEqual(['12345678Z']);
  expect(found(atLeast(detectors.national_id, 'possible'), text)).toEqual(['12345678Z', '87654321X']);
});
