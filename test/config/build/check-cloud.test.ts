// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what a configuration file says
import { expect, test } from 'vitest';
import { inspect, problemsOf } from '../workspace.ts';

const file = (settings: string) => `providers: { p: { ${settings} } }`;
const vertex = 'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5';

test.each(
  // biome-ignore format: a case a line
  [
  ['dialect: bedrock, credentials: aws', /needs a base_url/],
  ['dialect: bedrock, base_url: "https://h.example"', /needs credentials: aws, or an api_key/],
  ['dialect: bedrock, credentials: aws, base_url: "https://h.example"', /the name of its host has no region/],
  [`dialect: vertex, base_url: "${vertex}"`, /needs credentials: google/],
  ['dialect: vertex, credentials: google, base_url: "https://h.example/v1"', /does not end with a project and a location/],
  [`dialect: vertex, credentials: google, base_url: "${vertex}", api_key: "\${KEY}"`, /remove one of the two/],
  ['dialect: openai, api_key: "${KEY}", region: us-east-1', /is for requests that are signed/],
  ['dialect: openai, api_key: "${KEY}", api_version: 2024-10-21', /a base_url that ends with \/openai/],
  ['dialect: openai, credentials: google, base_url: "http://h.example/v1"', /must not go over the network unencrypted/],
  ['dialect: gemini, credentials: aws, region: us-east-1', /take an api_key, or credentials: google/],
  [`dialect: gemini, credentials: google, base_url: "${vertex}"`, /does not end with \/publishers\/google/],
  [`dialect: vertex, credentials: google, base_url: "${vertex.replace('s/us-east5', 's/global')}"`, /its host serves us-east5, and the path names global/],
  [`dialect: vertex, credentials: google, base_url: "${vertex.replace('us-east5-', '')}"`, /its host serves global, and the path names us-east5/],
  ['dialect: bedrock, credentials: aws, region: eu-west-1, base_url: "https://bedrock-runtime.us-east-1.amazonaws.com"', /its host is in us-east-1, and requests are signed for eu-west-1/],
  ['dialect: sandbox, credentials: aws, region: us-east-1', /the sandbox is built in and takes none/],
  ],
)('%s', async (settings, problem) => {
  expect((await problemsOf(file(settings), { KEY: 'k'.repeat(20) })).join('\n')).toMatch(problem);
});

test.each([
  ['https://bedrock-runtime.eu-west-1.amazonaws.com', 'eu-west-1'],
  ['https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
  ['https://bedrock-mantle.ap-southeast-2.api.aws/v1', 'ap-southeast-2'],
  ['https://vpce-0a1b-2c.bedrock-runtime.us-east-2.vpce.amazonaws.com', 'us-east-2'],
])('the region of %s is %s', async (url, region) => {
  const { config } = await inspect(file(`dialect: bedrock, credentials: aws, base_url: "${url}"`));

  expect(config?.providers.get('p')).toMatchObject({ region, isConfigured: true });
});
