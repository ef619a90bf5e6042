// The policies that the gateway is measured with.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const example = parse(readFileSync(new URL('../config.example.yaml', import.meta.url), 'utf8'));

const names = 'aurora zeus falcon orion titan nebula comet saturn apollo hermes'.split(' ');

// Fifty phrases, twenty patterns and every detector, as a company might have them.
const company = {
  phrases: ['project', 'codename', 'operation', 'internal', 'secret'].flatMap((noun) =>
    names.map((name) => `${noun} ${name}`),
  ),
  patterns: [
    '\\bACME-[0-9]{5}\\b',
    '\\bTCK-[0-9]{6}\\b',
    '\\bEMP[0-9]{8}\\b',
    'password\\s*[:=]\\s*\\S{6,}',
    'secret_key\\s*[:=]',
    'postgres(?:ql)?://\\S+',
    'mongodb(?:\\+srv)?://\\S+',
    '\\bAKIA[0-9A-Z]{16}\\b',
    '\\bghp_[A-Za-z0-9]{36}\\b',
    '\\bxox[baprs]-[A-Za-z0-9-]{10,}',
    '\\bAIza[0-9A-Za-z_-]{35}\\b',
    '\\bSG\\.[A-Za-z0-9_-]{22}\\.',
    'confidential(?:ly)?\\s+(?:draft|memo)',
    '\\bcase no\\. [0-9]{4}/[0-9]+',
    '(?:internal|restricted) use only',
    '\\b(?:[0-9]{1,3}\\.){3}[0-9]{1,3}/[0-9]{2}\\b',
    '\\bkey-[0-9a-f]{32}\\b',
    'jdbc:[a-z]+://',
    'BEGIN CERTIFICATE REQUEST',
    '\\bDOB[: ]+[0-9]{2}/[0-9]{2}/[0-9]{4}',
  ],
  detectors: [
    'credit_card',
    'email',
    'phone',
    'iban',
    'us_ssn',
    'ip_address',
    'secrets',
    'private_key',
    'gateway_key',
  ],
};

const block = (id, when) => ({ id, action: 'block', when });

export const policies = {
  none: undefined,
  example: example.policies.house.rules,
  // As `gateway init` writes it.
  init: [
    {
      id: 'secrets',
      action: 'mask',
      reason: 'content.secret',
      when: { text: { detect: [{ secrets: 'possible' }, 'private_key'] } },
    },
  ],
  small: [
    block('output', { max_output_tokens: { over: 100_000, absent: 'allow' } }),
    block('shell', { tools: ['shell'] }),
    block('codename', { text: { phrases: ['project aurora', 'project zeus', 'project falcon'] } }),
  ],
  large: [
    block('phrases', { text: { phrases: company.phrases } }),
    block('patterns', { text: { regex: company.patterns } }),
    block('detectors', { text: { detect: company.detectors } }),
  ],
};
