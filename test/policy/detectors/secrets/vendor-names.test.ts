import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { atLeast } from '../../../../src/policy/detectors/detector.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { found } from '../found.ts';

const alphabets = {
  hex: '0123456789abcdef',
  lower: '0123456789abcdefghijklmnopqrstuvwxyz',
  mixed: '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ',
} as const;

/** Services whose keys have no prefix, with the alphabet and length of a key as their documentation shows it. */
const vendors = `
ADAFRUIT lower 32, ADOBE hex 32, AIRTABLE mixed 17, ALGOLIA hex 32, AMPLITUDE hex 32, APPCENTER hex 40, ASANA lower 32,
ATLASSIAN mixed 24, AUTH0 mixed 64, BAMBOO hex 40, BITBUCKET mixed 64, BITTREX lower 32, BREVO lower 32, BUGSNAG hex 32,
BUILDKITE hex 40, CHARGEBEE mixed 40, CIRCLECI hex 40, CLEARBIT hex 32, CLOUDFLARE mixed 40, CODECOV hex 32,
COINBASE mixed 64, CONFLUENT mixed 64, CONTENTFUL mixed 43, COVERALLS mixed 33, DATADOG hex 40, DEEPGRAM hex 40,
DEEPL hex 32, DISCORD hex 64, DISQUS mixed 64, DRONECI lower 32, DROPBOX lower 64, ELEVENLABS hex 32, ETSY lower 24,
FASTLY mixed 32, FIGMA mixed 40, FINICITY hex 32, FINNHUB lower 20, FLICKR hex 32, FRESHBOOKS hex 64, FRESHDESK mixed 20,
FULLSTORY mixed 40, GEOCODIO hex 40, GIPHY mixed 32, GITTER hex 40, GRAFANA mixed 40, HEROKU hex 40, HONEYCOMB mixed 22,
HUBSPOT hex 40, HUNTER hex 40, INTERCOM mixed 60, IPSTACK hex 32, JENKINS hex 34, KAGGLE hex 32, KEEN hex 64,
KRAKEN mixed 80, KUCOIN hex 24, LASTFM hex 32, LAUNCHDARKLY mixed 40, LINKEDIN mixed 16, LOGGLY hex 40, LOOKER lower 24,
MAILCHIMP hex 32, MATTERMOST lower 26, MESSAGEBIRD mixed 25, MIXPANEL hex 32, NETLIFY mixed 43, NEWSAPI hex 32,
NOTION mixed 43, NYTIMES mixed 32, OKTA mixed 42, OPENWEATHER hex 32, OPSGENIE hex 40, PAGERDUTY mixed 20, PLAID hex 30,
PUSHOVER lower 30, RAPIDAPI lower 50, ROLLBAR hex 32, SENDBIRD hex 40, SEGMENT mixed 32, SNYK hex 40, SONAR hex 40,
SUMOLOGIC mixed 64, TRELLO hex 32, TRAVIS mixed 22, TWITCH lower 30, ZENDESK mixed 40`
  .trim()
  .split(/,\s+/)
  .map((row) => row.split(' ') as [string, keyof typeof alphabets, string]);

/** Random, and the same in every run. */
function keyOf(name: string, alphabet: string, length: number): string {
  let key = '';
  for (let round = 0; key.length < length; round += 1) {
    for (const byte of createHash('sha256').update(`${name} ${round}`).digest()) {
      if (byte < 256 - (256 % alphabet.length)) key += alphabet[byte % alphabet.length];
    }
  }
  return key.slice(0, length);
}

const carriers: readonly ((name: string, value: string) => string)[] = [
  (name, value) => `PORT=8080\n${name}_API_KEY=${value}\nDEBUG=false`,
  (name, value) => `  ${name.toLowerCase()}_access_token: "${value}"`,
  (name, value) => `{"${name.toLowerCase()}ClientSecret": "${value}"}`,
  (name, value) => `export ${name}_SECRET='${value}'`,
];

test('keys of vendors without a prefix are found by their names, by default', () => {
  const likely = atLeast(secrets, 'likely');
  const counts = carriers.map(
    (carry) =>
      vendors.filter(([name, alphabet, length]) => {
        const value = keyOf(name, alphabets[alphabet], Number(length));
        return found(likely, carry(name, value)).some((one) => one.includes(value));
      }).length,
  );

  expect(vendors).toHaveLength(86);
  for (const count of counts) expect(count).toBeGreaterThanOrEqual(80);
});

test.each([
  ['API_KEY=your-api-key-goes-here-please'],
  ['token: process.env.NODE_AUTH_TOKEN_VALUE'],
  ['passwordResetTokenExpirationTime = "configuration.default.value"'],
  ['"cacheKey": "d41d8cd98f00b204e9800998ecf8427e"'],
  ['primary_key: 3f2c9ad871be4c0d9e6f'],
  ['"integrity_token_hash": "9b74c9897bac770ffc029102a200c5de"'],
  ['next_page_token=CAUQAA8f3kd92mdkeio2'],
  ['public_key: 8f14e45fceea167a5a36dedd4bea2543'],
])('%s holds no likely secret', (text) => {
  expect(found(atLeast(secrets, 'likely'), text)).toEqual([]);
});
