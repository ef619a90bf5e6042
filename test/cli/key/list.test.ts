import { expect, test } from 'vitest';
import { command, printed } from '../../kit/command.ts';

const yaml = `
policies: { all: { apply: all, default: deny } }
projects:
  shop:
    keys:
      - id: web
        hash: "sha256:${'1'.repeat(64)}"
        previous: [{ hash: "sha256:${'3'.repeat(64)}", expires: 2099-02-02 }, { hash: "sha256:${'4'.repeat(64)}", expires: 2020-01-01 }]
      - { id: old, hash: "sha256:${'2'.repeat(64)}", expires: 2020-01-01 }
  batch:
    keys:
      - { id: ci, value: "\${CI_KEY}" }
      - { id: night, value: "\${NIGHT_KEY}", expires: 2099-01-01 }
`;

const files = { 'gateway.yaml': yaml };

test('lists every key with its state, never its value', async () => {
  const env = { CI_KEY: 'a-key-of-sixteen-and-more' };

  expect(await command('key list', { files, env })).toEqual(
    printed(
      'web\tshop\tusable\t\thash\t2099-02-02\nold\tshop\texpired\t2020-01-01\thash\t\nci\tbatch\tusable\t\t$CI_KEY\t\nnight\tbatch\tnot set\t2099-01-01\t$NIGHT_KEY\t\n',
    ),
  );
});

test('--project and -o json', async () => {
  const { stdout, json } = await command('key list --project shop -o json', { files });

  expect(json).toEqual([
    {
      id: 'web',
      project: 'shop',
      state: 'usable',
      expires: null,
      previous_until: '2099-02-02',
      from: 'hash',
    },
    {
      id: 'old',
      project: 'shop',
      state: 'expired',
      expires: '2020-01-01',
      previous_until: null,
      from: 'hash',
    },
  ]);
  expect(stdout).not.toContain('1111');
});
