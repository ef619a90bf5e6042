import { drawHarmless } from './harmless.ts';
import { base62, base64url, type Random } from './random.ts';
import { carriers, drawDistinct, type LabelledClass, listed, plant, templates } from './sample.ts';
import { gatewayKey, spoiled } from './secrets.ts';

/** Values that a configuration holds: keys of providers and of projects. */
export const configuredSecrets: readonly string[] = [
  'sk-local-7Hq2vX9pLmT4',
  'provider key with blanks 51',
  'Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==',
  'gw_handmade_key_of_project_one',
];

export function labelGatewayKeys(): LabelledClass {
  return {
    positives: plant(
      9001,
      600,
      [gatewayKey, gatewayKey, (random) => random.pick(configuredSecrets)],
      [...carriers, ...own],
    ),
    negatives: [...drawHarmless(9002, 1400), ...drawDistinct(9003, 900, nearMisses)],
  };
}

const own = listed(`
  Authorization: Bearer {} | x-api-key: {} | GATEWAY_KEY={} | key={}&x=1 | see {}, it is mine
  token_{} | \`{}\` | "{}"
`);

const nearMisses: readonly ((random: Random) => string)[] = [
  (random) => `gw_${random.text(38, base62)}`,
  (random) => spoiled(random, gatewayKey(random)),
  (random) => gatewayKey(random).slice(0, -1),
  (random) => gatewayKey(random).toLowerCase().replace(/\d/, 'x'),
  (random) => gatewayKey(random).replace('gw_', 'gw-'),
  (random) => `gw_${random.text(20, base62)}`,
  (random) => random.text(41, base64url),
  ...templates([
    'gw_request_id=#h32',
    'gw_handmade_key_of_project',
    'sk-local-7Hq2vX9pLmT',
    'gw_test_#n',
    'const gw_client_connection_pool_maximum_size = #n;',
    'gw_XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX',
    'provider key with blanks',
  ]),
];
