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

test.each<[DetectorName, string, string]>([
  ['ip_address', 'a version', 'version 4.0.112.20'],
  ['ip_address', 'a section', 'see 3.2.1.4'],
  ['ip_address', 'loopback', '127.0.0.1 and ::1'],
  ['ip_address', 'a netmask', '255.255.255.0'],
  ['ip_address', 'five numbers', '1.2.3.4.5'],
  ['ip_address', 'a number too large', '256.1.2.3'],
  ['ip_address', 'a time', '12:34:56'],
  ['ip_address', 'a hardware address', '00:1b:44:11:3a:b7'],
  ['ip_address', 'names of program text', 'std::cout << dead::beef'],
  ['ip_address', 'a fingerprint', '16:27:ac:a5:76:28:2d:36'],
  ['email', 'a package', 'react@18.2.0'],
  ['email', 'a repository', 'git@github.com:org/repo.git'],
  ['email', 'a user in a URL', 'https://anna@example.com/x'],
  ['email', 'an image', 'icon@2x.png'],
  ['email', 'a sender that nobody reads', 'Co-Authored-By: Bot <noreply@example.com>'],
  ['email', 'a place to copy to', 'anna@example.com:/srv/files'],
  ['email', 'a decorator', '@app.route'],
  ['email', 'a label of Kotlin', 'this@MainActivity.finish()'],
  ['phone', 'a time', '2025-03-12 10:11:12 +0200'],
  ['phone', 'an added line of a patch', '@@ -1 +1,2 @@\n+447123456789\n+const x = 1;'],
  ['phone', 'ten digits', '4155550123'],
  ['phone', 'a range', '100-200-3000'],
  ['phone', 'a part number', 'part no 415-555-0123'],
  ['phone', 'counting', '01 02 03 04 05'],
  ['phone', 'a table of code points', '0043 0063 0073'],
  ['phone', 'a sum', 'x+14155550123'],
  ['phone', 'a country that is none', '+999 12345678'],
  ['us_ssn', 'nine digits without a name', 'row 512439876'],
  ['us_ssn', 'spaces without a name', '512 43 9876 rows'],
  ['us_ssn', 'an area that is never issued', 'SSN 666-43-9876'],
  ['us_ssn', 'a group that is never issued', 'SSN 512-00-9876'],
  ['us_ssn', 'a number voided after it was printed', 'SSN 078-05-1120'],
  ['us_ssn', 'a part number', 'part number 512-43-9876'],
  ['us_ssn', 'a longer number', '1512-43-9876'],
  ['us_ssn', 'a part of an identifier', 'ab-512-43-9876'],
  ['iban', 'a number with a wrong digit', 'DE89370400440532013001'],
  ['iban', 'a number with a digit too many', 'DE893704004405320130000'],
  ['iban', 'a number with a word before it', 'xDE89370400440532013000'],
  ['iban', 'a number with a country without such numbers', 'US89370400440532013000'],
])('is no %s: %s', (name, _what, text) => {
  expect(found(detectors[name], text)).toEqual([]);
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
