import { drawHarmless } from './harmless.ts';
import { base64, createRandom, type Random } from './random.ts';
import { drawDistinct, fill, type LabelledClass, type Sample } from './sample.ts';

export function labelPrivateKeys(): LabelledClass {
  return {
    positives: makePositives(),
    negatives: [...drawHarmless(7002, 1400), ...drawDistinct(7003, 1000, nearMisses)],
  };
}

interface Kind {
  readonly label: string;
  readonly begins: string;
  readonly least: number;
  readonly most: number;
}

const kinds: readonly Kind[] = [
  { label: 'PRIVATE KEY', begins: 'MIIE', least: 64, most: 1700 },
  { label: 'PRIVATE KEY', begins: 'MC4CAQAwBQYDK2VwBCIEI', least: 64, most: 64 },
  { label: 'RSA PRIVATE KEY', begins: 'MIIEpAIBAAKCAQEA', least: 800, most: 3200 },
  { label: 'EC PRIVATE KEY', begins: 'MHcCAQEEI', least: 164, most: 230 },
  { label: 'DSA PRIVATE KEY', begins: 'MIIBuwIBAAKBgQ', least: 400, most: 800 },
  { label: 'ENCRYPTED PRIVATE KEY', begins: 'MIIFHDBOBgkq', least: 400, most: 1800 },
  { label: 'OPENSSH PRIVATE KEY', begins: 'b3BlbnNzaC1rZXktdjEAAAAA', least: 350, most: 2500 },
];

function body(random: Random, kind: Kind): readonly string[] {
  const length = random.number(kind.least, kind.most);
  const all = kind.begins + random.text(length - kind.begins.length, base64);
  return all.match(/.{1,64}/g) ?? [];
}

function block(random: Random, index: number): readonly string[] {
  const kind = kinds[index % kinds.length] ?? kinds[0];
  if (kind === undefined) return [];
  const headers =
    index % 17 === 3
      ? ['Proc-Type: 4,ENCRYPTED', `DEK-Info: AES-128-CBC,${random.hex(32).toUpperCase()}`, '']
      : [];
  return [`-----BEGIN ${kind.label}-----`, ...headers, ...body(random, kind), `-----END ${kind.label}-----`];
}

function pgp(random: Random): readonly string[] {
  const lines = Array.from({ length: random.number(10, 60) }, () => random.text(64, base64));
  const tail = [`${random.text(22, base64)}==`, `=${random.text(4, base64)}`];
  return [
    '-----BEGIN PGP PRIVATE KEY BLOCK-----',
    'Version: GnuPG v2',
    '',
    ...lines,
    ...tail,
    '-----END PGP PRIVATE KEY BLOCK-----',
  ];
}

function openVpn(random: Random): readonly string[] {
  const lines = Array.from({ length: 16 }, () => random.hex(32));
  return ['-----BEGIN OpenVPN Static key V1-----', ...lines, '-----END OpenVPN Static key V1-----'];
}

function ssh2(random: Random): readonly string[] {
  const lines = Array.from({ length: random.number(8, 20) }, () => random.text(70, base64));
  return [
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----',
    'Comment: "2048-bit rsa"',
    ...lines,
    '---- END SSH2 ENCRYPTED PRIVATE KEY ----',
  ];
}

function putty(random: Random): readonly string[] {
  const lines = (count: number) => Array.from({ length: count }, () => random.text(64, base64));
  return [
    'PuTTY-User-Key-File-2: ssh-rsa',
    'Encryption: none',
    'Comment: me',
    'Public-Lines: 6',
    ...lines(6),
    'Private-Lines: 14',
    ...lines(14),
    `Private-MAC: ${random.hex(40)}`,
  ];
}

type Wrap = (lines: readonly string[]) => readonly [planted: string, text: string];

const wrap = (planted: string, before = '', after = ''): readonly [string, string] => [
  planted,
  before + planted + after,
];

const wraps: readonly Wrap[] = [
  (lines) => wrap(lines.join('\n')),
  (lines) => wrap(lines.join('\n'), 'here is my key:\n\n', '\n\nwhat is wrong with it?'),
  (lines) => wrap(lines.join('\r\n'), 'cat id_rsa\r\n', '\r\n$ '),
  (lines) => wrap(lines.join('\\n'), '{"private_key":"', '\\n","client_email":"x"}'),
  (lines) => wrap(lines.join('\\\\n'), '"{\\"key\\":\\"', '\\\\n\\"}"'),
  (lines) =>
    wrap(
      lines
        .map((line, index) => `${String(index + 1).padStart(6)}\t${line}`)
        .join('\n')
        .trimStart()
        .replace(/^1\t/, ''),
      '     1\t',
    ),
  (lines) =>
    wrap(
      lines
        .map((line, index) => `    ${index + 1}→${line}`)
        .join('\n')
        .replace(/^ {4}1→/, ''),
      '    1→',
    ),
  (lines) =>
    wrap(
      lines
        .map((line) => `    ${line}`)
        .join('\n')
        .trimStart(),
      'key: |\n    ',
    ),
  (lines) =>
    wrap(
      lines
        .map((line) => `  "${line}\\n" +`)
        .join('\n')
        .replace(/^ {2}"/, '')
        .replace(/\\n" \+$/, ''),
      'const key =\n  "',
      '";',
    ),
  (lines) =>
    wrap(
      lines
        .map((line) => `> ${line}`)
        .join('\n')
        .replace(/^> /, ''),
      '> ',
    ),
  (lines) =>
    wrap(
      lines
        .map((line) => `+${line}`)
        .join('\n')
        .replace(/^\+/, ''),
      '@@ -0,0 +1,9 @@\n+',
    ),
  (lines) => wrap(lines.join(' '), 'KEY="', '"'),
  // Cut off before the end, as by a tool that shows the first lines of a file.
  (lines) => wrap(lines.slice(0, 3 + (lines.length > 6 ? 3 : 0)).join('\n'), 'head -n 5 server.key\n', '\n'),
];

function makePositives(): readonly Sample[] {
  const random = createRandom(7001);
  const armour = [openVpn, ssh2, pgp, putty];
  return Array.from({ length: 640 }, (_, index) => {
    const make = index % 6 === 5 ? armour[Math.floor(index / 6) % armour.length] : undefined;
    const lines = make?.(random) ?? block(random, index);
    const wrapper = wraps[(index + Math.floor(index / wraps.length)) % wraps.length];
    if (wrapper === undefined || lines.length === 0) throw new Error('no wrapper');
    const [planted, text] = wrapper(lines);
    return { planted, text };
  });
}

const notKeys = [
  '-----BEGIN PUBLIC KEY-----\n{}\n{}\n-----END PUBLIC KEY-----',
  '-----BEGIN CERTIFICATE-----\n{}\n{}\n{}\n-----END CERTIFICATE-----',
  '-----BEGIN RSA PUBLIC KEY-----\n{}\n-----END RSA PUBLIC KEY-----',
  '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{}\n{}\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----',
  '-----BEGIN PGP SIGNATURE-----\n\n{}\n-----END PGP SIGNATURE-----',
  '-----BEGIN CERTIFICATE REQUEST-----\n{}\n-----END CERTIFICATE REQUEST-----',
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{} me@laptop',
  'The file must begin with -----BEGIN PRIVATE KEY----- and end with -----END PRIVATE KEY-----.',
  'const header = "-----BEGIN RSA PRIVATE KEY-----";\nconst footer = "-----END RSA PRIVATE KEY-----";',
  '-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq...\n-----END PRIVATE KEY-----',
  '-----BEGIN RSA PRIVATE KEY-----\nREDACTED\n-----END RSA PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n-----END PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\nYOUR_PRIVATE_KEY_HERE\n-----END PRIVATE KEY-----',
  'grep -rn "BEGIN OPENSSH PRIVATE KEY" . # finds {}',
  'if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) { reject("{}"); }',
  'pem = "-----BEGIN PRIVATE KEY-----\\n" + chunkString(privateKeyBase64Contents, 64) + "\\n-----END PRIVATE KEY-----"',
  'private key: {}',
  '-----BEGIN-----\n{}\n-----END-----',
  '--------- BEGIN ---------\n{}',
  '| --- | ----- |\n| PRIVATE KEY | {} |',
  'PuTTY-User-Key-File-3 is the format of {}',
  'AGE-SECRET-KEY-1 is the prefix; age1{}',
  'export const BEGIN_PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----"; // see createPrivateKeyFromPkcs8DerEncodedBuffer and convertPrivateKeyToOpenSshFormat below',
];

const nearMisses = notKeys.map(
  (template) => (random: Random) =>
    fill(
      random,
      template.replaceAll('{}', () => random.text(64, base64).replaceAll('#', 'x')),
    ),
);
