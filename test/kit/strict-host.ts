import { type Script, type ScriptedHost, startHost } from './host.ts';
import { checkRequest } from './strict/check-request.ts';

/** A scripted host that refuses with a 400 what the real hosts refuse; the script is for the rest. */
export async function startStrictHost(): Promise<ScriptedHost> {
  let answer: Script = (response) => response.writeHead(500).end();
  const host = await startHost(async (response, request) => {
    const refused = checkRequest(request.target, JSON.parse(String(request.body)));
    if (refused === undefined) return answer(response, request);
    response.writeHead(400, { 'content-type': 'application/json' });
    return response.end(JSON.stringify(refused.body));
  });
  return {
    ...host,
    script: (next) => {
      answer = next;
    },
  };
}
