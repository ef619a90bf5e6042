import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { type Script, type ScriptedHost, startHost } from './host.ts';

/**
 * A scripted host that first lets the sandbox check the request, as strictly as the real hosts do: what it
 * refuses is answered with its 400, and the script is for the rest. Requests must ask for a model of the sandbox.
 */
export async function startStrictHost(): Promise<ScriptedHost> {
  const sandbox = await startSandbox();
  let answer: Script = (response) => response.writeHead(500).end();
  const host = await startHost(async (response, request) => {
    const checked = await fetch(sandbox.url + request.target, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: request.body,
    });
    const verdict = await checked.text();
    if (checked.status === 200) return answer(response, request);
    response.writeHead(checked.status, { 'content-type': 'application/json' });
    return response.end(verdict);
  });
  return {
    url: host.url,
    requests: host.requests,
    next: host.next,
    script: (next) => {
      answer = next;
    },
    close: async () => {
      await host.close();
      await sandbox.close();
    },
  };
}
