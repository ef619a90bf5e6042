import { keyBodyLength, keyChecksum } from '../../../src/policy/detectors/secrets/key-checksum.ts';
import { secrets } from '../../kit/gateway.ts';

/** Something that must not leave, and how it would be recognised at the host. */
export interface Thing {
  readonly name: string;
  readonly text: string;
  /** Two ways to part it: joined with nothing, or with white space, it is whole again. */
  readonly halves: readonly (readonly [string, string])[];
  readonly found: RegExp;
  /** Like it, and harmless. */
  readonly harmless: string;
}

const keyBody = 'a1B2'.repeat(keyBodyLength / 4 + 1).slice(0, keyBodyLength);
const gatewayKey = `gw_${keyBody}${keyChecksum(keyBody)}`;
const token = `gh${'p_'}${'16C7e42F292c6912E7710c838347Ae178B4a'}`;

export const things: readonly Thing[] = [
  {
    name: 'phrase',
    text: 'project nightfall',
    halves: [
      ['project', 'nightfall'],
      ['project night', 'fall'],
    ],
    found: /project\s+nightfall/i,
    harmless: 'project daylight',
  },
  {
    name: 'card',
    text: '4111 1111 1111 1111',
    halves: [['41111111', '11111111']],
    found: /4111[\s-]?1111[\s-]?1111[\s-]?1111/,
    harmless: '4111 1111 1111 1112',
  },
  {
    name: 'gateway key',
    text: gatewayKey,
    halves: [[gatewayKey.slice(0, 20), gatewayKey.slice(20)]],
    found: new RegExp(gatewayKey),
    // Not one with a wrong checksum: behind any other prefix that is a key of an unlisted service.
    harmless: 'gw_names_no_key_and_has_nothing_drawn_at_random',
  },
  {
    name: 'provider key',
    text: secrets.PROVIDER_KEY,
    halves: [[secrets.PROVIDER_KEY.slice(0, 14), secrets.PROVIDER_KEY.slice(14)]],
    found: new RegExp(secrets.PROVIDER_KEY),
    harmless: 'provider-public-9876543210',
  },
  {
    name: 'token',
    text: token,
    halves: [[token.slice(0, 18), token.slice(18)]],
    // By its form it is a token only where no letter stands before it, as in any text.
    found: new RegExp(`(?<![A-Za-z0-9_])${token}`),
    // Words follow the prefix, in its first half as well: a seal behind that is no token's end.
    harmless: `gh${'p_'} and a few words`,
  },
];

/** Whether a thing stands in what a host received, in any string of it, decoded as the host would. */
export function isIn({ found }: Thing, received: unknown): boolean {
  if (typeof received === 'string')
    return found.test(received) || decodings(received).some((each) => isIn({ found } as Thing, each));
  if (Array.isArray(received)) return received.some((each) => isIn({ found } as Thing, each));
  if (typeof received !== 'object' || received === null) return false;
  return Object.entries(received).some(([key, value]) => found.test(key) || isIn({ found } as Thing, value));
}

function decodings(text: string): readonly unknown[] {
  const encoded = /^data:[^,]*;base64,(.*)$/s.exec(text)?.[1] ?? text;
  const isBase64 = encoded.length >= 8 && /^[A-Za-z0-9+/]+={0,2}$/.test(encoded);
  const decoded = isBase64 ? Buffer.from(encoded, 'base64').toString('latin1') : undefined;
  return [...(decoded === undefined ? [] : [decoded]), ...(/^\s*[[{]/.test(text) ? [parsed(text)] : [])];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a text that only begins like JSON
  }
}
