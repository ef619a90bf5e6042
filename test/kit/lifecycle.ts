import { beforeAll } from 'vitest';
import { startGateway, type TestGateway } from './gateway.ts';
import { type Script, type ScriptedHost, startHost } from './host.ts';

/** A gateway for the tests of a file; call the result inside a test. */
export function useGateway(yaml = ''): () => TestGateway {
  let gateway: TestGateway | undefined;
  beforeAll(async () => {
    gateway = await startGateway(yaml);
  });
  return () => present(gateway);
}

export interface Setting {
  readonly anthropic: ScriptedHost;
  readonly openai: ScriptedHost;
  readonly gateway: TestGateway;
}

/** Two scripted hosts, one of each family, and a gateway before them; the YAML is made from their addresses. */
export async function startHosts(
  script: Script,
  yaml: (urls: { anthropic: string; openai: string }) => string,
): Promise<Setting> {
  const [anthropic, openai] = await Promise.all([startHost(script), startHost(script)]);
  const gateway = await startGateway(yaml({ anthropic: anthropic.url, openai: openai.url }));
  return { anthropic, openai, gateway };
}

/** The same for the tests of a file; call the result inside a test. */
export function useHosts(...options: Parameters<typeof startHosts>): () => Setting {
  let setting: Setting | undefined;
  beforeAll(async () => {
    setting = await startHosts(...options);
  });
  return () => present(setting);
}

function present<T>(value: T | undefined): T {
  if (value === undefined)
    throw new Error('it is started before the first test, not while tests are collected');
  return value;
}
