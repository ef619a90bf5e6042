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

/** So many lines of base64, each as long. */
const lines = (random: Random, count: number, length = 64) =>
  Array.from({ length: count }, () => random.text(length, base64));

const armours: readonly ((random: Random) => readonly string[])[] = [
  (random) => [
    '-----BEGIN OpenVPN Static key V1-----',
    ...Array.from({ length: 16 }, () => random.hex(32)),
    '-----END OpenVPN Static key V1-----',
  ],
  (random) => [
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----',
    'Comment: "2048-bit rsa"',
    ...lines(random, random.number(8, 20), 70),
    '---- END SSH2 ENCRYPTED PRIVATE KEY ----',
  ],
  (random) => [
    '-----BEGIN PGP PRIVATE KEY BLOCK-----',
    'Version: GnuPG v2',
    '',
    ...lines(random, random.number(10, 60)),
    `${random.text(22, base64)}==`,
    `=${random.text(4, base64)}`,
    '-----END PGP PRIVATE KEY BLOCK-----',
  ],
  (random) => [
    'PuTTY-User-Key-File-2: ssh-rsa',
    'Encryption: none',
    'Comment: me',
    'Public-Lines: 6',
    ...lines(random, 6),
    'Private-Lines: 14',
    ...lines(random, 14),
    `Private-MAC: ${random.hex(40)}`,
  ],
];

/** What stands around a key, between its lines, and before each of them. */
interface Wrap {
  readonly before?: string;
  readonly joint?: string;
  readonly prefix?: (line: number) => string;
  readonly after?: string;
  /** Where the key is cut off, as by a tool that shows the first lines of a file. */
  readonly isCut?: true;
}

const wraps: readonly Wrap[] = [
  {},
  { before: 'here is my key:\n\n', after: '\n\nwhat is wrong with it?' },
  { before: 'cat id_rsa\r\n', joint: '\r\n', after: '\r\n$ ' },
  { before: '{"private_key":"', joint: '\\n', after: '\\n","client_email":"x"}' },
  { before: '"{\\"key\\":\\"', joint: '\\\\n', after: '\\\\n\\"}"' },
  { prefix: (line) => `${String(line).padStart(6)}\t` },
  { prefix: (line) => `    ${line}→` },
  { before: 'key: |\n', prefix: () => '    ' },
  { before: 'const key =\n', joint: '\\n" +\n', prefix: () => '  "', after: '";' },
  { prefix: () => '> ' },
  { before: '@@ -0,0 +1,9 @@\n', prefix: () => '+' },
  { before: 'KEY="', joint: ' ', after: '"' },
  { before: 'head -n 5 server.key\n', after: '\n', isCut: true },
];

function wrapped(key: readonly string[], wrap: Wrap): Sample {
  const { before = '', joint = '\n', prefix = () => '', after = '', isCut } = wrap;
  const shown = isCut ? key.slice(0, key.length > 6 ? 6 : 3) : key;
  const planted = shown.map((line, at) => (at === 0 ? line : prefix(at + 1) + line)).join(joint);
  return { planted, text: before + prefix(1) + planted + after };
}

function makePositives(): readonly Sample[] {
  const random = createRandom(7001);
  return Array.from({ length: 640 }, (_, index) => {
    const armour = index % 6 === 5 ? armours[Math.floor(index / 6) % armours.length] : undefined;
    const wrap = wraps[(index + Math.floor(index / wraps.length)) % wraps.length];
    return wrapped(armour?.(random) ?? block(random, index), wrap ?? {});
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
