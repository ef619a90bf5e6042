import { createHash } from 'node:crypto';
import { base62, base64, lower, type Random, upper } from './random.ts';
import { drawDistinct, fill, type Sample, templates } from './sample.ts';

/**
 * What agents and people send all day and no detector may find anything in: scaffolding, tool schemas, program text,
 * logs, hashes, identifiers, times, versions and numbers of every length.
 */
export function drawHarmless(seed: number, count: number): readonly Sample[] {
  return drawDistinct(seed, count, [...templates(texts), ...makers]);
}

function uuid(random: Random): string {
  return [8, 4, 4, 4, 12].map((length) => random.hex(length)).join('-');
}

const words =
  'the a policy request stream answer reads every field and passes what it can not see to nobody because limits hold until budget ends while tokens flow through gateways with care for order time code tests build merge branch commit review index table column cache socket buffer parser'.split(
    ' ',
  );

function prose(random: Random): string {
  return Array.from({ length: random.number(20, 80) }, () => random.pick(words)).join(' ');
}

const makers: readonly ((random: Random) => string)[] = [
  prose,
  (random) => `request ${uuid(random)} took ${random.number(1, 9000)} ms`,
  (random) =>
    `commit ${random.hex(40)}\nAuthor: build bot\nDate:   Tue Mar ${random.number(1, 31)} 10:${random.number(10, 59)}:11 2025 +0200`,
  (random) => `sha256:${createHash('sha256').update(random.hex(8)).digest('hex')}`,
  (random) => `"integrity": "sha512-${createHash('sha512').update(random.hex(8)).digest('base64')}"`,
  (random) => `index ${random.hex(7)}..${random.hex(7)} 100644`,
  (random) => `data:image/png;base64,iVBORw0KGgo${random.text(random.number(200, 900), base64)}==`,
  (random) => random.text(random.number(40, 400), base64),
  (random) => random.text(random.number(20, 60), base62),
  (random) =>
    `${random.number(1, 20)}.${random.number(0, 30)}.${random.number(0, 99)}-beta.${random.number(0, 9)}`,
  (random) =>
    `"${random.text(8, lower)}": "^${random.number(0, 30)}.${random.number(0, 30)}.${random.number(0, 30)}",`,
  (random) => `17${random.digits(8)}`,
  (random) =>
    `{"created":17${random.digits(8)},"expires_ms":17${random.digits(11)},"ns":17${random.digits(17)}}`,
  (random) =>
    `2025-0${random.number(1, 9)}-1${random.number(0, 9)}T0${random.number(0, 9)}:${random.number(10, 59)}:${random.number(10, 59)}.${random.digits(6)}Z`,
  (random) => `0x${random.hex(16)} 0x${random.hex(8)}`,
  (random) => `offset ${random.digits(5)}: ${Array.from({ length: 16 }, () => random.hex(2)).join(' ')}`,
  (random) => `${Math.PI / random.number(2, 99)} ${Math.E * random.number(2, 99)}`,
  (random) =>
    `{"id":"toolu_01${random.text(22, base62)}","type":"tool_use","name":"Read","input":{"limit":${random.number(1, 2000)}}}`,
  (random) =>
    `{"id":"chatcmpl-${random.text(29, base62)}","object":"chat.completion","created":17${random.digits(8)}}`,
  (random) => `call_${random.text(24, base62)} -> resp_${random.hex(48)}`,
  (random) => `msg_01${random.text(22, base62)} req_011C${random.text(20, base62)}`,
  (random) =>
    `M${random.digits(2)}.${random.digits(1)} ${random.digits(2)}L${random.digits(3)}.${random.digits(3)} ${random.digits(3)}.${random.digits(2)}Z`,
  (random) => `[${Array.from({ length: 24 }, () => random.number(0, 100000)).join(', ')}]`,
  (random) => `[${Array.from({ length: 12 }, () => `-0.0${random.digits(7)}`).join(',')}]`,
  (random) =>
    `test('${random.pick(words)} ${random.pick(words)} when ${random.pick(words)} ${random.digits(3)}', () => {\n  expect(${random.pick(words)}(${random.digits(4)})).toBe(${random.digits(2)});\n});`,
  (random) => `${random.text(3, upper)}-${random.digits(random.number(3, 7))} ${random.pick(words)}`,
  (random) =>
    `width="${random.digits(3)}" height="${random.digits(3)}" viewBox="0 0 ${random.digits(4)} ${random.digits(4)}"`,
  (random) =>
    `-rw-r--r-- 1 app app ${random.digits(6)} Mar ${random.number(1, 28)} 10:${random.number(10, 59)} ${random.text(8, lower)}.ts`,
  (random) =>
    `${random.hex(12)}   node:20   "docker-entrypoint.s…"   ${random.number(2, 59)} minutes ago   Up`,
  (random) => fill(random, 'total #d9 bytes, #d12 ns, #d7 rows, #d10 units, #d16 ticks since 2020'),
  (random) =>
    `at ${random.text(9, lower)} (file:///app/src/${random.text(6, lower)}.ts:${random.number(1, 900)}:${random.number(1, 90)})`,
];

const texts: readonly string[] = [
  'You are a coding agent. Use the tools given. IMPORTANT: never commit unless the user asks. Keep answers under 4 lines.',
  'Co-Authored-By: Assistant <noreply@example.dev>',
  '<system-reminder>\nThe todo list is empty. Do not mention this to the user.\n</system-reminder>',
  '{"name":"Read","description":"Reads a file. Line numbers start at 1; lines over 2000 characters are cut.","input_schema":{"type":"object","properties":{"file_path":{"type":"string"},"offset":{"type":"number"},"limit":{"type":"number","minimum":1,"maximum":#d4}},"required":["file_path"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}}',
  '{"type":"function","function":{"name":"create_user","parameters":{"type":"object","properties":{"email":{"type":"string","format":"email"},"phone":{"type":"string","description":"E.164"},"card_number":{"type":"string","pattern":"^[0-9]{16}$"},"ssn":{"type":"string"},"ip":{"type":"string","format":"ipv4"},"iban":{"type":"string","maxLength":34}}}}}',
  'curl -H "Authorization: Bearer $API_KEY" https://api.example.com/v1/models?limit=#n',
  'export OPENAI_API_KEY="sk-..."\nexport ANTHROPIC_API_KEY=your-api-key-here',
  'const client = new Client({ apiKey: process.env.API_KEY, baseURL: `http://localhost:#d4` });',
  '@Component({ selector: "app-root" })\nexport class App { @Input() value = #n; }',
  'npm install react@18.2.0 @types/node@20.#n.1 vite@^5.0.#n',
  'git clone git@github.com:acme/tools.git && cd tools && git checkout -b fix-#d4',
  'diff --git a/src/a.ts b/src/a.ts\nindex #h7..#h7 100644\n--- a/src/a.ts\n+++ b/src/a.ts\n@@ -#n,7 +#n,7 @@\n-  const limit = #d4;\n+  const limit = #d5;\n+#d9\n context',
  'std::vector<std::string> names; a::b::c(x); use crate::dead::beef; impl fmt::Display for Fee {}',
  'CREATE TABLE orders (id BIGINT PRIMARY KEY, total NUMERIC(12,2)); INSERT INTO orders VALUES (#d10, #d4.99);',
  'color: #h6; background: rgba(#n, #n, #n, 0.5); margin: 0 #n 10 #n;',
  'MAC 0#n:1b:44:11:3a:b7, listening on 127.0.0.1:#d4 and [::1]:#d4, 0.0.0.0:80',
  'Key fingerprint: SHA256:#h40 / MD5 16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48',
  'Copyright (c) 2015-2025. All rights reserved. ISBN 978-3-16-148410-0, ISSN 2049-3630.',
  'Chapter 4.2.1.3 describes it; see RFC 9112, section 6.1.2, and figure 12.3.',
  'node v20.18.1, openssl 3.0.13, Chrome/120.0.6099.#n Safari/537.36, build 10.0.19041.#d4',
  'Seq#n: 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181, 6765',
  'Umsatz 2023: 1.234.567,89 EUR; 2024: 2.345.678,90 EUR (+#n,1 %), Konto-Nr. folgt',
  'SSE: event: content_block_delta\ndata: {"type":"content_block_delta","index":#n,"delta":{"type":"text_delta","text":" and"}}',
  'progress [=====>     ] #n% 1234/5678 ETA 00:01:#n',
  'lorem = "x" * #d6; y = 1e-#n; z = 6.02214076e23; mask = 0b1010_1010; big = 1_000_000_000_000',
  'SELECT count(*) FROM events WHERE ts BETWEEN 1700000000 AND 17#d8 AND shard IN (#n, #n)',
  'FROM node:20-alpine\nRUN apk add --no-cache curl=8.5.0-r#n\nEXPOSE 8080\nCMD ["node", "server.js"]',
  'on:\n  push:\njobs:\n  build:\n    steps:\n      - uses: actions/checkout@v4\n      - uses: actions/setup-node@v4.0.#n\n',
  'GET /v1/orders/#d8?page=#n HTTP/1.1\nHost: shop.internal\nContent-Length: #d4\nETag: "#h32"',
  '日本語のテキストです。二〇二五年三月、合計#d5円、番号は#d6です。',
  'Встреча 12.03.2025 в 10:30, кабинет #d3, сумма 1 234 567 руб.',
  'El total es 1 234 567,89 y el código postal 28013; piso #n.',
  'Win at 3-2-2024? Score 123-45-67, ranks 100-200-300, pages 12-34-5678-9.',
  'kubectl get pods -n default | grep web-#h9-#h5   1/1   Running   0   #nd',
  'traceparent: 00-#h32-#h16-01',
  'grid 4x4:\n1203 0456 7789 0012\n3345 6678 1990 1223\n9001 1234 5567 7890\n0031 4456 7001 2334',
  'E = [10.1, 10.2, 10.3.4]; ranges 10-20-30; ratio 16:9; time 12:34:56; date 01/02/2025; #d5-#d4',
  '-----BEGIN CERTIFICATE-----\nMIIB#h60\n#h64\n-----END CERTIFICATE-----',
  'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQC#h64#h64 deploy',
  'if (pem.startsWith("-----BEGIN PRIVATE KEY-----")) return importPrivateKey(pem.trim(), algorithmIdentifier);',
];
