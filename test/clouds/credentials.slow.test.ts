import { createHash, generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CloudHost, startClouds } from '../kit/cloud-host.ts';
import { post, projects, startGateway, type TestGateway } from '../kit/gateway.ts';
import { type Login, type LoginHosts, startLoginHosts } from '../kit/login-hosts.ts';

// Each source of the vendors' default chains, at scripted login hosts: what works, and what is expired, revoked, half
// configured or silent. The last is never more than a 502 that says what to do.

const isInstalled =
  existsSync(join(import.meta.dirname, 'node_modules')) && process.env.NODE_PATH !== undefined;
const hello = { max_tokens: 100, messages: [{ role: 'user' as const, content: 'hello' }] };
const secret = 'client-secret-0123456789';
const assertion = `e30.${Buffer.from('{"exp":4102444800}').toString('base64url')}.c2ln`;

describe.skipIf(!isInstalled)('credentials of', () => {
  let cloud: CloudHost;
  let logins: LoginHosts;
  let gateway: TestGateway;
  let folder: string;
  const before = { ...process.env };
  const file = (name: string, text: unknown) => {
    const path = join(folder, name);
    writeFileSync(path, typeof text === 'string' ? text : JSON.stringify(text), { mode: 0o600 });
    return path;
  };

  beforeAll(async () => {
    cloud = await startClouds();
    logins = await startLoginHosts();
    folder = mkdtempSync(join(tmpdir(), 'gateway-logins-'));
  });
  beforeEach(async () => {
    for (const name of Object.keys(process.env)) {
      if (/^(?:AWS|AZURE|GOOGLE|GCE|GCLOUD|IDENTITY|MSI)_/.test(name)) delete process.env[name];
    }
    Object.assign(process.env, {
      HOME: folder,
      AWS_EC2_METADATA_DISABLED: 'true',
      HTTPS_PROXY: logins.url,
      NO_PROXY: '127.0.0.1',
      NODE_TLS_REJECT_UNAUTHORIZED: '0', // what stands behind that proxy
    });
    gateway = await startGateway(`
providers:
  aws: { dialect: bedrock, base_url: "${cloud.url}", credentials: aws, region: us-east-1 }
  google: { dialect: vertex, base_url: "${cloud.url}/v1/projects/p/locations/us-east5", credentials: google }
  azure: { dialect: anthropic, base_url: "${cloud.url}/anthropic", credentials: azure }
models:
  - { match: aws, provider: aws, model: "anthropic.claude-test-v1:0" }
  - { match: google, provider: google, model: claude-test }
  - { match: azure, provider: azure, model: claude-test }
${projects}`);
  });
  afterEach(() => gateway.stop());
  afterAll(async () => {
    process.env = before;
    await cloud?.close();
    await logins?.close();
  });

  const ask = (model: string) => post(gateway, '/v1/messages', { ...hello, model });

  /** Where credentials are looked for, what the login host says, and why there are none; undefined if there are. */
  type Case = readonly [
    name: string,
    env: () => Readonly<Record<string, string>>,
    login?: Login | undefined,
    cause?: RegExp,
  ];

  const aws = () => cloud.state.aws;
  const stsAnswer = () => `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
    <AccessKeyId>${aws().id}</AccessKeyId><SecretAccessKey>${aws().secret}</SecretAccessKey>
    <SessionToken>${aws().token}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>
  </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
  const stsError =
    (status: number, code: string, message: string): Login =>
    () => [
      status,
      `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`,
    ];
  const awsKeys = () => ({
    AWS_ACCESS_KEY_ID: aws().id,
    AWS_SECRET_ACCESS_KEY: aws().secret,
    AWS_SESSION_TOKEN: aws().token,
  });
  const webIdentity = () => ({
    AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/gateway',
    AWS_WEB_IDENTITY_TOKEN_FILE: file('aws-token', assertion),
    AWS_ENDPOINT_URL_STS: logins.url,
    AWS_REGION: 'us-east-1',
  });
  const profile = (text: string) => ({ AWS_PROFILE: 'work', AWS_CONFIG_FILE: file('aws-config', text) });
  const profileWithKeys = () => `[profile work]
aws_access_key_id = ${aws().id}
aws_secret_access_key = ${aws().secret}
aws_session_token = ${aws().token}
`;
  const sso = (expiresAt: string) => {
    const cache = join(folder, '.aws', 'sso', 'cache');
    mkdirSync(cache, { recursive: true });
    const name = createHash('sha1').update('company').digest('hex');
    const token = {
      accessToken: 'sso-token-0123456789',
      expiresAt,
      region: 'us-east-1',
      startUrl: 'https://sso',
    };
    writeFileSync(join(cache, `${name}.json`), JSON.stringify(token));
    return {
      ...profile(`[profile work]
sso_session = company
sso_account_id = 123456789012
sso_role_name = gateway
region = us-east-1
[sso-session company]
sso_start_url = https://sso
sso_region = us-east-1
`),
      AWS_ENDPOINT_URL_SSO: logins.url,
    };
  };
  const roleCredentials: Login = () => {
    const keys = { accessKeyId: aws().id, secretAccessKey: aws().secret, sessionToken: aws().token };
    return [200, { roleCredentials: { ...keys, expiration: Date.parse('2099-01-01T00:00:00Z') } }];
  };
  const revoked = { message: 'Session token not found or invalid', __type: 'UnauthorizedException' };
  const instance = () => ({
    AWS_EC2_METADATA_DISABLED: 'false',
    AWS_EC2_METADATA_SERVICE_ENDPOINT: logins.url,
    AWS_REGION: 'us-east-1',
  });
  const metadata: Login = ({ path }) => {
    if (path === '/latest/api/token') return [200, 'imds-session'];
    if (path === '/latest/meta-data/iam/security-credentials/') return [200, 'gateway'];
    const keys = { AccessKeyId: aws().id, SecretAccessKey: aws().secret, Token: aws().token };
    return [200, { Code: 'Success', ...keys, Expiration: '2099-01-01T00:00:00Z' }];
  };

  const microsoft =
    (answer: Login): Login =>
    (asked) => {
      const { path } = asked;
      const base = 'https://login.microsoftonline.com/11111111-1111-1111-1111-111111111111';
      if (path.includes('/discovery/instance')) {
        const hosts = ['login.microsoftonline.com', 'login.windows.net'];
        const metadata = [{ preferred_network: hosts[0], preferred_cache: hosts[1], aliases: hosts }];
        return [
          200,
          { tenant_discovery_endpoint: `${base}/v2.0/.well-known/openid-configuration`, metadata },
        ];
      }
      if (!path.includes('openid-configuration')) return answer(asked);
      const endpoints = ['authorization', 'token', 'end_session'].map((each) => [
        `${each}_endpoint`,
        `${base}/${each}`,
      ]);
      return [200, { ...Object.fromEntries(endpoints), issuer: `${base}/v2.0`, jwks_uri: `${base}/keys` }];
    };
  const entra = microsoft(() => [
    200,
    { access_token: cloud.state.entra, expires_in: 3_600, token_type: 'Bearer' },
  ]);
  const refusedBy = (code: number, words: string) =>
    microsoft(() => [
      401,
      { error: 'invalid_client', error_description: `AADSTS${code}: ${words}`, error_codes: [code] },
    ]);
  const tenant = '11111111-1111-1111-1111-111111111111';
  const azure = { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: tenant };
  const client = () => ({ ...azure, AZURE_CLIENT_SECRET: secret });
  const federated = (tokenFile = file('azure-token', assertion)) => ({
    ...azure,
    AZURE_FEDERATED_TOKEN_FILE: tokenFile,
    AZURE_TOKEN_CREDENTIALS: 'WorkloadIdentityCredential',
  });
  const managed = () => ({
    AZURE_TOKEN_CREDENTIALS: 'ManagedIdentityCredential',
    AZURE_POD_IDENTITY_AUTHORITY_HOST: logins.url,
  });

  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const serviceAccount = {
    type: 'service_account',
    project_id: 'p',
    private_key_id: '1',
    private_key: privateKey,
    client_email: 'gateway@p.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  };
  const user = {
    type: 'authorized_user',
    client_id: 'c',
    client_secret: secret,
    refresh_token: 'refresh-0123456789',
  };
  const google = (credentials: unknown) => () => ({
    GOOGLE_APPLICATION_CREDENTIALS: file('google.json', credentials),
  });
  const token: Login = () => [
    200,
    { access_token: cloud.state.google, expires_in: 3_600, token_type: 'Bearer' },
  ];
  const invalidGrant =
    (error_description: string): Login =>
    () => [400, { error: 'invalid_grant', error_description }];
  const onGoogle = () => ({
    GCE_METADATA_HOST: logins.url.slice('http://'.length),
    GOOGLE_CLOUD_PROJECT: 'p',
  });

  // biome-ignore format: a case a line
  const cases: Readonly<Record<string, readonly Case[]>> = {
    aws: [
      ['keys of the environment', awsKeys],
      ['half of them', () => ({ AWS_ACCESS_KEY_ID: aws().id }), undefined, /Could not load credentials/],
      ['a profile', () => profile(profileWithKeys())],
      ['a profile that is not there', () => profile('[profile other]\n'), undefined, /Could not load credentials/],
      ['web identity', webIdentity, () => [200, stsAnswer()]],
      ['web identity that has expired', webIdentity, stsError(400, 'ExpiredTokenException', 'Token expired: current date/time must be before'), /Token expired/],
      ['a role that may not be assumed', webIdentity, stsError(403, 'AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity'), /Not authorized to perform/],
      ['single sign-on', () => sso('2099-01-01T00:00:00Z'), roleCredentials],
      ['single sign-on that has expired', () => sso('2020-01-01T00:00:00Z'), undefined, /aws sso login|expired/],
      ['single sign-on that was revoked', () => sso('2099-01-01T00:00:00Z'), () => [401, revoked], /Session token not found|UnauthorizedException/],
      ["an instance's role", instance, metadata],
      ['an instance without one', instance, () => [404, 'none'], /./],
      ['a metadata server that hangs', instance, undefined, /./],
    ],
    azure: [
      ['a client secret', client, entra],
      ['a client secret that has expired', client, refusedBy(7_000_222, 'The provided client secret keys for app are expired.'), /AADSTS7000222/],
      ['half of it', () => ({ ...azure, AZURE_TOKEN_CREDENTIALS: 'EnvironmentCredential' }), undefined, /EnvironmentCredential/],
      ['workload identity', federated, entra],
      ['workload identity of a clock that is off', federated, refusedBy(700_024, 'Client assertion is not within its valid time range.'), /AADSTS700024/],
      ['workload identity without its file', () => federated('/nowhere/at/all'), undefined, /nowhere|ENOENT/],
      ['a login host that hangs', client, undefined, /nothing came within/],
      ['a metadata server that hangs', managed, undefined, /nothing came within/],
    ],
    google: [
      ['a service account', google(serviceAccount), token],
      ['a service account whose key was revoked', google(serviceAccount), invalidGrant('Invalid JWT Signature.'), /Invalid JWT Signature/],
      ['a service account of a clock that is off', google(serviceAccount), invalidGrant('Invalid JWT: Token must be in a reasonable timeframe.'), /reasonable timeframe/],
      ['half of a service account', google({ ...serviceAccount, private_key: undefined }), undefined, /private_key/],
      ["a user's own", google(user), token],
      ["a user's own that have expired", google(user), invalidGrant('Token has been expired or revoked.'), /invalid_grant/],
      ['a login host that hangs', google(user), undefined, /nothing came within/],
      ['a metadata server that hangs', onGoogle, undefined, /./],
      ['a metadata server', onGoogle, token],
    ],
  };

  describe.each([
    ['aws', 'run "aws sso login"'],
    ['azure', 'run "az login"'],
    ['google', 'run "gcloud auth application-default login"'],
  ])('%s', (model, remedy) => {
    const named = (cases[model] ?? []).map(([name, env, login, cause]) => ({ name, env, login, cause }));
    test.each(named)('$name', { timeout: 40_000 }, async ({ env, login = () => undefined, cause }) => {
      Object.assign(process.env, env());
      logins.script(login);
      const calls = cloud.calls.length;
      const beganMs = performance.now();

      const answer = await ask(model);
      const text = await answer.text();

      if (cause === undefined) {
        expect([answer.status, text]).toEqual([200, expect.stringContaining('Water it.')]);
        return;
      }
      expect(answer.status).toBe(502);
      expect(performance.now() - beganMs).toBeLessThan(14_000);
      expect(text).toContain(remedy.replaceAll('"', '\\"'));
      expect(cloud.calls.length).toBe(calls);
      const record = await gateway.recordWhere((each) => each.cause !== undefined);
      expect(record.reason).toBe('provider.credentials_missing');
      expect(record.cause).toMatch(cause);
      for (const hidden of [secret, assertion, aws().secret]) expect(record.cause).not.toContain(hidden);
    });
  });

  test('a profile that was renewed counts at once', async () => {
    Object.assign(process.env, profile('[profile other]\n'));
    expect((await ask('aws')).status).toBe(502);

    file('aws-config', profileWithKeys());
    await new Promise((resolve) => setTimeout(resolve, 2_100)); // how long a failure is the answer for all

    expect((await ask('aws')).status).toBe(200);
  });
});
