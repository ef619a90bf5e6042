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
      HTTPS_PROXY: logins.proxy,
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

  interface Case {
    readonly name: string;
    readonly model: 'aws' | 'google' | 'azure';
    readonly env: () => Readonly<Record<string, string>>;
    readonly login?: Login;
    /** What the record says of why there are none; undefined if there are. */
    readonly cause?: RegExp;
  }

  const aws = () => cloud.state.aws;
  const stsAnswer = () => `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials>
    <AccessKeyId>${aws().id}</AccessKeyId><SecretAccessKey>${aws().secret}</SecretAccessKey>
    <SessionToken>${aws().token}</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>
  </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
  const stsError = (code: string, message: string) =>
    `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error></ErrorResponse>`;
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
  const roleCredentials = () => ({
    roleCredentials: {
      ...{ accessKeyId: aws().id, secretAccessKey: aws().secret, sessionToken: aws().token },
      expiration: Date.parse('2099-01-01T00:00:00Z'),
    },
  });
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
  const client = () => ({ AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: tenant, AZURE_CLIENT_SECRET: secret });
  const federated = () => ({
    AZURE_TENANT_ID: tenant,
    AZURE_CLIENT_ID: tenant,
    AZURE_FEDERATED_TOKEN_FILE: file('azure-token', assertion),
    AZURE_TOKEN_CREDENTIALS: 'WorkloadIdentityCredential',
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

  const cases: readonly Case[] = [
    { name: 'AWS: keys of the environment', model: 'aws', env: awsKeys },
    {
      name: 'AWS: half of them',
      model: 'aws',
      env: () => ({ AWS_ACCESS_KEY_ID: aws().id }),
      cause: /Could not load credentials/,
    },
    {
      name: 'AWS: a profile',
      model: 'aws',
      env: () =>
        profile(`[profile work]
aws_access_key_id = ${aws().id}
aws_secret_access_key = ${aws().secret}
aws_session_token = ${aws().token}
`),
    },
    {
      name: 'AWS: a profile that is not there',
      model: 'aws',
      env: () => profile('[profile other]\n'),
      cause: /Could not load credentials/,
    },
    { name: 'AWS: web identity', model: 'aws', env: webIdentity, login: () => [200, stsAnswer()] },
    {
      name: 'AWS: web identity that has expired',
      model: 'aws',
      env: webIdentity,
      login: () => [
        400,
        stsError('ExpiredTokenException', 'Token expired: current date/time must be before'),
      ],
      cause: /Token expired/,
    },
    {
      name: 'AWS: a role that may not be assumed',
      model: 'aws',
      env: webIdentity,
      login: () => [403, stsError('AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity')],
      cause: /Not authorized to perform/,
    },
    {
      name: 'AWS: single sign-on',
      model: 'aws',
      env: () => sso('2099-01-01T00:00:00Z'),
      login: () => [200, roleCredentials()],
    },
    {
      name: 'AWS: single sign-on that has expired',
      model: 'aws',
      env: () => sso('2020-01-01T00:00:00Z'),
      cause: /aws sso login|expired/,
    },
    {
      name: 'AWS: single sign-on that was revoked',
      model: 'aws',
      env: () => sso('2099-01-01T00:00:00Z'),
      login: () => [401, { message: 'Session token not found or invalid', __type: 'UnauthorizedException' }],
      cause: /Session token not found|UnauthorizedException/,
    },
    { name: "AWS: an instance's role", model: 'aws', env: instance, login: metadata },
    {
      name: 'AWS: an instance without one',
      model: 'aws',
      env: instance,
      login: () => [404, 'none'],
      cause: /./,
    },
    { name: 'AWS: a metadata server that hangs', model: 'aws', env: instance, cause: /./ },
    { name: 'Azure: a client secret', model: 'azure', env: client, login: entra },
    {
      name: 'Azure: a client secret that has expired',
      model: 'azure',
      env: client,
      login: refusedBy(7_000_222, 'The provided client secret keys for app are expired.'),
      cause: /AADSTS7000222/,
    },
    {
      name: 'Azure: half of it',
      model: 'azure',
      env: () => ({
        AZURE_TENANT_ID: tenant,
        AZURE_CLIENT_ID: tenant,
        AZURE_TOKEN_CREDENTIALS: 'EnvironmentCredential',
      }),
      cause: /EnvironmentCredential/,
    },
    { name: 'Azure: workload identity', model: 'azure', env: federated, login: entra },
    {
      name: 'Azure: workload identity of a clock that is off',
      model: 'azure',
      env: federated,
      login: refusedBy(700_024, 'Client assertion is not within its valid time range.'),
      cause: /AADSTS700024/,
    },
    {
      name: 'Azure: workload identity without its file',
      model: 'azure',
      env: () => ({ ...federated(), AZURE_FEDERATED_TOKEN_FILE: '/nowhere/at/all' }),
      cause: /nowhere|ENOENT/,
    },
    { name: 'Azure: a login host that hangs', model: 'azure', env: client, cause: /nothing came within/ },
    {
      name: 'Azure: a metadata server that hangs',
      model: 'azure',
      env: () => ({
        AZURE_TOKEN_CREDENTIALS: 'ManagedIdentityCredential',
        AZURE_POD_IDENTITY_AUTHORITY_HOST: logins.url,
      }),
      cause: /nothing came within/,
    },
    { name: 'Google: a service account', model: 'google', env: google(serviceAccount), login: token },
    {
      name: 'Google: a service account whose key was revoked',
      model: 'google',
      env: google(serviceAccount),
      login: invalidGrant('Invalid JWT Signature.'),
      cause: /Invalid JWT Signature/,
    },
    {
      name: 'Google: a service account of a clock that is off',
      model: 'google',
      env: google(serviceAccount),
      login: invalidGrant(
        'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.',
      ),
      cause: /reasonable timeframe/,
    },
    {
      name: 'Google: half of a service account',
      model: 'google',
      env: google({ ...serviceAccount, private_key: undefined }),
      cause: /private_key/,
    },
    { name: "Google: a user's own", model: 'google', env: google(user), login: token },
    {
      name: "Google: a user's own that have expired",
      model: 'google',
      env: google(user),
      login: invalidGrant('Token has been expired or revoked.'),
      cause: /invalid_grant/,
    },
    {
      name: 'Google: a login host that hangs',
      model: 'google',
      env: google(user),
      cause: /nothing came within/,
    },
    { name: 'Google: a metadata server that hangs', model: 'google', env: onGoogle, cause: /./ },
    { name: 'Google: a metadata server', model: 'google', env: onGoogle, login: token },
  ];
  const remedies = {
    aws: 'run "aws sso login"',
    azure: 'run "az login"',
    google: 'run "gcloud auth application-default login"',
  };

  test.each(cases)('$name', { timeout: 40_000 }, async ({ model, env, login = () => undefined, cause }) => {
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
    expect(text).toContain(remedies[model].replaceAll('"', '\\"'));
    expect(cloud.calls.length).toBe(calls);
    const record = await gateway.recordWhere((each) => each.cause !== undefined);
    expect(record.reason).toBe('provider.credentials_missing');
    expect(record.cause).toMatch(cause);
    for (const hidden of [secret, assertion, aws().secret]) expect(record.cause).not.toContain(hidden);
  });

  test('a profile that was renewed counts at once', async () => {
    const keys = (id: string) => `[profile work]
aws_access_key_id = ${id}
aws_secret_access_key = ${aws().secret}
aws_session_token = ${aws().token}
`;
    Object.assign(process.env, profile('[profile other]\n'));
    expect((await ask('aws')).status).toBe(502);

    file('aws-config', keys(aws().id));
    await new Promise((resolve) => setTimeout(resolve, 2_100)); // how long a failure is the answer for all

    expect((await ask('aws')).status).toBe(200);
  });
});
