import { expect, test } from 'vitest';
import { compilePatternSet } from '../../../../src/policy/automaton/patterns.ts';
import { atLeast } from '../../../../src/policy/detectors/detector.ts';
import { secrets } from '../../../../src/policy/detectors/secrets/secrets.ts';
import { createFold } from '../../../../src/policy/fold/fold.ts';
import { scale } from '../../../kit/scale.ts';
import { plainText } from '../../automaton/text-bytes.ts';
import { drawKey, formatsOf } from '../labelled-set/draw-key.ts';
import { labelNamedSecrets } from '../labelled-set/named-secrets.ts';
import { createRandom } from '../labelled-set/random.ts';
import { formats, templates } from '../shapes/fifth-round.ts';

const possible = atLeast(secrets, 'possible');
const { scanner } = compilePatternSet(
  [{ kind: 'detector', name: 'secrets', confidence: 'possible', detector: possible }],
  createFold(),
);

/** A text with nothing in it but one form of a possible secret, for each form. */
const forms: readonly (readonly [string, string])[] = [
  ...templates,
  ...formatsOf(formats).map((format) => ['"{}"', format] as const),
  // At their fewest bits.
  ['{}', 'acme_key_<hex:16>'],
  ['{}', 'acme_<lower:18>'],
  ['{}', 'sk-<alnum:16>'],
  ['{}', 'acmx<hex:24>'],
  ['{}', 'SEC<hex:64>'],
  ['{}', '<alnum:24>.<key:40>'],
  ['{}', '<uuid>:<hex:32>'],
  ['{}', '<uuid>-<uuid>'],
  ['{}', '<hex:32>-<hex:8>-<hex:8>'],
  ['{}', '<digits:4>~<alnum:64>'],
  ['{}', '1/<hex:40>'],
  ['{}', '<upper:8>-<upper:8>-<upper:8>-<upper:8>'],
  ['"{}"', '<key:32>'],
  ['"{}"', '<base64:40>'],
  // Addresses.
  ['https://acme.example/hooks/{}', '<lower:24>'],
  ['https://acme.example/invite/{}', '<alnum:32>'],
  ['https://{}@acme.example/', '<key:32>'],
  ['https://acme.example/f?X-Amz-Signature={}', '<hex:64>'],
  // Announced by a name.
  ['here is the token you asked for: {}', '<hex:40>'],
  ['API key\n\n{}\n', '<hex:32>'],
  ['user app, password {}', '<alnum:14>'],
  ['密码是 {}', '<alnum:14>'],
  ['パスワードは「{}」です', '<alnum:14>'],
  ['passphrase: "{}"', 'tangerine velvet orbit mustard'],
  ['<meta name="api-key" content="{}">', '<hex:32>'],
  ['<label>Password</label><input value="{}">', '<alnum:14>'],
  ['variable "password" {\n  type = string\n  sensitive = true\n  default = "{}"\n}', '<alnum:20>'],
  ["insert into users (name, password) values ('app', '{}')", '<alnum:14>'],
  ['db.example.com:5432:app:app:{}', '<alnum:14>'],
  ['curl -u {}: https://api.acme.example', '<hex:32>'],
  ['curl -udeploy:{} https://api.acme.example', '<alnum:14>'],
  ['curl -sSu deploy:{} https://api.acme.example', '<alnum:14>'],
  ['curl -b "session={}" https://api.acme.example', '<alnum:20>'],
  ['{"authorization":["Bearer {}"]}', '<alnum:20>'],
  ['headers={"Authorization": f"Bearer {}"}', '<alnum:20>'],
  ['auth=("deploy","{}")', '<alnum:14>'],
  ['machine\tapi.acme.example\n\tlogin\tdeploy\n\tpassword\t{}', '<alnum:14>'],
  ['machine api.acme.example login deploy password "{}"', '<alnum:14>'],
  ['echo "{}" | docker login --password-stdin', '<alnum:20>'],
  ['gh secret set DEPLOY <<< "{}"', '<alnum:20>'],
  ['snmp-server community {} RO', '<alnum:14>'],
  ['net use Z: \\\\nas\\share {} /user:app', '<alnum:14>'],
  ['local token <const> = "{}"', '<alnum:30>'],
];

const texts = forms.flatMap(([template, format], index) =>
  Array.from({ length: scale(2, 8) }, (_, each) => {
    const key = drawKey(createRandom(40_000 + 8 * index + each), format);
    return { form: index, text: template.replace('{}', () => key), key };
  }),
);

const isFound = ({ text, key }: { text: string; key: string }) =>
  possible.find(text).some(({ start, end }) => text.slice(start, end).includes(key));

test('whatever is found opens the prefilter', () => {
  const hasFinding = texts.filter(isFound);
  const labelled = labelNamedSecrets().positives.filter(({ text }) => possible.find(text).length > 0);

  const stopped = [...hasFinding, ...labelled].filter(({ text }) => !scanner.scan(plainText(text)));
  expect(stopped).toEqual([]);
  // Some are values that nothing tells from a word or a number.
  expect(new Set(hasFinding.map(({ form }) => form)).size).toBeGreaterThan(forms.length - 5);
});
