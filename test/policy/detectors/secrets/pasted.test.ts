// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what commands say
import { describe, expect, test } from 'vitest';
import { compilePatternSet } from '../../../../src/policy/automaton/patterns.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { createFold } from '../../../../src/policy/fold/fold.ts';
import { plainText } from '../../automaton/text-bytes.ts';
import { found } from '../found.ts';
import { base62, createRandom } from '../labelled-set/random.ts';

// Commands, headers and files of settings as people paste them, with a random value in the place of the credential.

const random = createRandom(49);
const drawn = () => random.text(24, base62);
const login = (password: string) => Buffer.from(`deploy:${password}`).toString('base64');

// biome-ignore format: a case a line
const forms: readonly (readonly [string, string])[] = [
  ['a header of curl', 'curl -H "Authorization: Bearer {}" https://api.internal/v1'],
  ['a header of curl, in single quotation marks', "curl -s -H 'authorization: bearer {}' https://api.internal/v1"],
  ['a header in JSON', '{"headers": {"Authorization": "Bearer {}", "Accept": "*/*"}}'],
  ['a header in JSON within a string', '"{\\"Authorization\\": \\"Bearer {}\\"}"'],
  ['a header of a request', 'GET /v1 HTTP/1.1\nHost: api.internal\nAuthorization: Token {}\n'],
  ['a user of curl', 'curl -u deploy:{} https://repo.internal/x'],
  ['a user of curl, long', 'curl --user "deploy:{}" -T a.tgz https://repo.internal/x'],
  ['a user of curl, next to its option', 'curl -udeploy:{} https://repo.internal/x'],
  ['a user of curl, behind other options', 'curl -sSu deploy:{} https://repo.internal/x'],
  ['a user of curl, behind other options, in quotation marks', 'curl -su "deploy:{}" https://repo.internal/x'],
  ['a cookie of curl', 'curl -b "session={}" https://shop.internal'],
  ['a cookie of curl, long', 'curl --cookie sessionid={} https://shop.internal'],
  ['a header in JSON with several values', '{"authorization":["Bearer {}"]}'],
  ['a header in an f-string', 'headers={"Authorization": f"Bearer {}"}'],
  ['a user and a password of requests', 'requests.get(url, auth=("deploy","{}"))'],
  ['a key as the user of curl', 'curl https://api.internal/v1/charges -u {}:'],
  ['a password of mysql', 'mysql -h db.internal -u root -p{} shop < dump.sql'],
  ['a password of mysqldump', 'mysqldump -uroot -p{} shop'],
  ['a login of docker', 'docker login -u ci -p {} registry.internal'],
  ['a login of docker, long', 'docker login registry.internal --username ci --password {}'],
  ['a token of an option', 'deployctl release --token {} --env prod'],
  ['a token of an option with a sign', 'deployctl release --token={} --env prod'],
  ['a token of an option in a list', '["deployctl", "--api-token", "{}"]'],
  ['.netrc', 'machine api.internal login deploy password {}'],
  ['.netrc in lines', 'machine api.internal\n  login deploy\n  password {}\n'],
  ['.netrc with tabs', 'machine\tapi.internal\n\tlogin\tdeploy\n\tpassword\t{}\n'],
  ['.netrc with a quoted password', 'machine api.internal login deploy password "{}"'],
  ['.pgpass', 'db.internal:5432:shop:deploy:{}'],
  ['.pgpass with wildcards', '*:*:*:deploy:{}'],
  ['a session cookie', 'Cookie: theme=dark; sessionid={}; lang=en'],
  ['a session cookie that is set', 'Set-Cookie: connect.sid={}; Path=/; HttpOnly'],
  ['a session cookie of curl', "curl -b 'x=1' -H 'Cookie: PHPSESSID={}' https://shop.internal"],
  ['a password of redis', 'redis-cli -h cache.internal -a {} ping'],
  ['a password of sshpass', 'sshpass -p {} ssh deploy@host'],
  ['a user of httpie', 'http -a deploy:{} https://api.internal/v1'],
  ['a user of httpie, behind the address', 'http GET api.internal/v1 --auth=deploy:{}'],
  ['a user of a proxy', 'curl -x http://proxy.internal:3128 --proxy-user deploy:{} https://x.internal'],
  ['a user of skopeo', 'skopeo copy --dest-creds ci:{} docker://a docker://b'],
  ['a user of Jenkins', 'java -jar jenkins-cli.jar -s https://ci.internal -auth deploy:{} list-jobs'],
  ['a user of smbclient', 'smbclient //nas/share -U deploy%{}'],
  ['a user of a domain', 'smbclient //nas/share -U "ACME\\deploy%{}"'],
  ['a user of lftp', 'lftp -u deploy,{} sftp://files.internal'],
  ['a setting of aws', 'aws configure set aws_secret_access_key {} --profile prod'],
  ['a setting of a profile of aws', 'aws configure set profile.prod.aws_secret_access_key {}'],
  ['a parameter of aws', 'aws ssm put-parameter --name /shop/db --type SecureString --value {}'],
  ['a secret of aws', 'aws secretsmanager create-secret --name db --secret-string {}'],
  ['a principal of az', 'az login --service-principal -u app-id -p {} --tenant t'],
  ['a database of az', 'az sql server create -n db -u admin -p {}'],
  ['a secret of az', 'az keyvault secret set --vault-name kv --name db --value {}'],
  ['a refresh token of gcloud', 'gcloud auth activate-refresh-token me@acme.example {}'],
  ['a password of gcloud', 'gcloud sql users set-password root --instance=db --password={}'],
  ['a setting of heroku', 'heroku config:set STRIPE_SECRET={} -a shop'],
  ['a key of doctl', 'doctl auth init -t {}'],
  ['a key for gh', 'echo {} | gh auth login --with-token'],
  ['a string for gh', 'gh auth login --with-token <<< {}'],
  ['a secret of gh', 'gh secret set DB --body {}'],
  ['a variable of glab', 'glab variable set DB_PASSWORD -v {}'],
  ['a setting of npm', 'npm config set //registry.internal/:_authToken {}'],
  ['a setting of pulumi', 'pulumi config set --secret dbPassword {}'],
  ['a login of vault', 'vault login {}'],
  ['a seal of vault', 'vault operator unseal {}'],
  ['a secret of vault', 'vault kv put secret/shop db={}'],
  ['a role of vault', 'vault write auth/approle/login role_id=x secret_id={}'],
  ['a token of consul', 'consul kv get -token={} shop/db'],
  ['a login of cargo', 'cargo login {}'],
  ['a login of cf', 'cf auth ci {}'],
  ['a login of cf, as options', 'cf login -a https://api.internal -u ci -p {} -o acme'],
  ['a login of bw', 'bw login me@acme.example {}'],
  ['a string of ansible-vault', "ansible-vault encrypt_string '{}' --name 'db_password'"],
  ['a password of sqlcmd', 'sqlcmd -S db.internal -U sa -P {} -Q "select 1"'],
  ['a password of sqlplus', 'sqlplus app/{}@db.internal/shop'],
  ['a password of mongosh', 'mongosh db.internal/shop -u app -p {}'],
  ['a password of mariadb', 'mariadb-dump -uroot -p{} shop'],
  ['a password of ldapsearch', 'ldapsearch -x -D cn=admin,dc=acme -w {} -b dc=acme'],
  ['a password of ipmitool', 'ipmitool -I lanplus -H bmc -U ADMIN -P {} power status'],
  ['a password of plink', 'plink -ssh deploy@host -pw {} uptime'],
  ['a password of a remote desktop', 'xfreerdp /u:deploy /p:{} /v:host'],
  ['a password of rclone', 'rclone obscure {}'],
  ['a password of a key store', 'keytool -list -keystore k.jks -storepass {}'],
  ['a password of ssh-keygen', 'ssh-keygen -t ed25519 -N "{}" -f key'],
  ['a password of zip', 'zip -P {} a.zip b'],
  ['a password of 7z', '7z x -p{} a.7z'],
  ['a user of Windows', 'net user deploy {} /add'],
  ['a line of htpasswd', 'htpasswd -bc /etc/nginx/.htpasswd deploy {}'],
  ['a wireless network', 'wpa_passphrase Acme {}'],
  ['an upload of twine', 'twine upload -u __token__ -p {} dist/*'],
  ['a repository of composer', 'composer config http-basic.repo.internal deploy {}'],
  ['a user of chpasswd', 'echo "deploy:{}" | chpasswd'],
  ['the password of sudo', 'echo {} | sudo -S apt update'],
  ['the password of kinit', 'echo {} | kinit deploy@ACME'],
  ['a secret of docker', 'printf "{}" | docker secret create db -'],
  ['a user of PostgreSQL', "ALTER USER app WITH PASSWORD '{}';"],
  ['a user of MySQL', "CREATE USER 'app'@'%' IDENTIFIED BY '{}';"],
  ['a password of PostgreSQL', 'PGPASSWORD={} psql -h db.internal -U app shop'],
  ['a credential of git', 'protocol=https\nhost=git.internal\nusername=deploy\npassword={}\n'],
];

// One in thirty random values has runs of letters as words have them.
test.each(forms)('a random value in %s is likely', (_name, form) => {
  const missed = Array.from({ length: 200 }, () => drawn()).filter(
    (value) => !found(secrets, form.replace('{}', value)).some((finding) => finding.includes(value)),
  );

  expect(missed.length).toBeLessThanOrEqual(16);
});

test('each form that is found opens the prefilter', () => {
  const { scanner } = compilePatternSet(
    [{ kind: 'detector', name: 'secrets', confidence: 'likely', detector: secrets }],
    createFold(),
  );
  // No run of letters and digits that is long enough to open it by itself.
  const value = 'Zq8!mLx#03b$pYt5';

  const texts = forms.map(([, form]) => form.replace('{}', () => value));
  const hasFinding = texts.filter((text) => found(secrets, text).length > 0);
  expect(hasFinding.filter((text) => !scanner.scan(plainText(text)))).toEqual([]);
  expect(hasFinding.length).toBeGreaterThan(forms.length / 2);
});

test.each(['curl -H "Authorization: Basic {}" https://x.internal', '{"Authorization": "Basic {}"}'])(
  'a random password in the login of %s is likely',
  (form) => {
    const value = login(createRandom(4).text(24, base62));

    expect(found(secrets, form.replace('{}', value))).toEqual([value]);
  },
);

describe('what stands there in documents is not', () => {
  const values = [
    '$TOKEN',
    '${TOKEN}',
    '<token>',
    'YOUR_TOKEN',
    'my-secret-token',
    'xxxxxxxxxxxxxxxxxxxxxxxx',
    'changeme',
    'your-api-key-goes-here',
  ];

  test.each(forms)('%s', (_name, form) => {
    for (const value of values) expect(found(secrets, form.replace('{}', value))).toEqual([]);
  });

  test.each([
    ['a login of the RFC', 'Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=='],
    ["a form's token", 'Cookie: csrftoken=Zq81mLxW03bKpYt5RuVnDc7e'],
    ['a mount', 'docker run -p 127.0.0.1:8080:80 -v /srv/data/registry:/var/lib/registry registry:2'],
    ['a path of an option', 'deployctl release --token-file /run/secrets/deploy-token'],
    ['directories', 'mkdir -p /var/lib/acme/releases/2026-11-28T10'],
    ['a user and a group', 'docker run -u 1000:1000 --rm alpine'],
    ['ports', 'db.internal:5432:shop:deploy:readonly-user-of-reports'],
    ['a commit', 'echo 8f14e45fceea167a5a36dedd4bea2543f3c1d2e7 | git diff-tree --stdin -r'],
    ['a digest', 'echo 8f14e45fceea167a5a36dedd4bea2543f3c1d2e7 | sha1sum --check'],
    [
      'the tag of a picture',
      'docker push -q registry.internal/shop:8f14e45fceea167a5a36dedd4bea2543f3c1d2e7',
    ],
    [
      'the tag of a release',
      'helm upgrade shop ./chart -n shop --set image.tag=8f14e45fceea167a5a36dedd4bea2543f3c1d2e7',
    ],
    ['a path behind short options', 'curl -su deploy:/run/secrets/deploy-token https://x.internal'],
    ['a file of cookies', 'curl -b /home/deploy/session-cookies-2026.txt https://shop.internal'],
    ['an f-string of a variable', 'headers={"Authorization": f"Bearer {config.api_token_of_deploy}"}'],
    ['a process of a user', 'ps -u deploy -p 4242 -o pid,rss'],
    ['a branch', 'git push -u origin:feature/8f14e45f-checkout'],
    ['an object', 'kubectl logs -n shop web-7d9f8b6c5d-x2kqp -p'],
    ['an address of an option', 'http --auth-type bearer -a https://api.internal/8f14e45fceea167a5a36'],
    ['prose on logins', 'The user login authenticates-with-a-certificate of the machine.'],
  ])('%s', (_name, text) => {
    expect(found(secrets, text)).toEqual([]);
  });
});

test.each([
  'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  'ghp_0123456789abcdefABCDEF0123456789abcd',
  'AKIAABCDEFGHIJKLMNOP',
])('a key of a fixed form that only counts is one: %s', (key) => {
  expect(found(secrets, `token is ${key}.`)).toEqual([key]);
});

test.each([
  `ghp_${'x'.repeat(36)}`,
  `ghp_${'a'.repeat(36)}`,
  `ghp_${'EXAMPLE'.repeat(6).slice(0, 36)}`,
  'ghp_yourGitHubTokenGoesHereyour_xxxxxxxx',
  'AKIAIOSFODNN7EXAMPLE',
  'AKIAXXXXXXXXXXXXXXXX',
])('one that says that it is an example is none: %s', (key) => {
  expect(found(secrets, `token is ${key}.`)).toEqual([]);
});
