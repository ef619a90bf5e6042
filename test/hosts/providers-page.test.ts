import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { findHost, type Host } from '../../src/hosts/find-host.ts';
import { type HostName, type HostRow, hosts } from '../../src/hosts/registry.ts';
import { vendors } from '../kit/strict/vendors.ts';

// The page says of each provider as which host it was tried: by conversations of five turns of every client, at a scripted
// host that refuses what the vendor does (dialects/translation/five-turns.test.ts).

interface Provider {
  readonly dialect: string;
  readonly base_url?: string;
  readonly host?: HostName;
}

const ownAddresses: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com',
  gemini: 'https://generativelanguage.googleapis.com',
};

function hostOf({ dialect, base_url, host }: Provider): Host {
  return findHost({ host, dialect, url: new URL(base_url ?? ownAddresses[dialect] ?? 'about:blank') });
}

function worksOf(yaml: string): string {
  const { providers } = parse(yaml) as { providers: Readonly<Record<string, Provider>> };
  const found = [...new Set(Object.values(providers).map(hostOf))];
  const tried = found.filter((host) => vendors[host].length > 0).map(titleOf);
  return tried.length < found.length ? 'yes' : `yes, tried as ${tried.join(', ')}`;
}

function titleOf(host: Host): string {
  const row: HostRow | undefined = host === 'local' || host === 'unknown' ? undefined : hosts[host];
  return row?.title ?? (host === 'local' ? 'a program on this machine' : 'any other host');
}

test('docs/providers.md says of each provider as what it was tried', async () => {
  const file = join(import.meta.dirname, '../../docs/providers.md');
  const page = readFileSync(file, 'utf8');
  const sections = new Map(
    [...page.matchAll(/^## (.+)\n\n```yaml\n([\s\S]*?)^```$/gm)].map(([, name = '', yaml = '']) => [
      name,
      yaml,
    ]),
  );

  const written = page.replace(
    /^\| \[(.+?)\](\(#.+?\)) \| [^|]+ \|/gm,
    (_row, name: string, link: string) => {
      return `| [${name}]${link} | ${worksOf(sections.get(name) ?? '')} |`;
    },
  );

  expect(sections.size).toBeGreaterThan(20);
  await expect(written).toMatchFileSnapshot(file);
});
