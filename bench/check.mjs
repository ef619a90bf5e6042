// Before anything is measured: does every contender answer, and does the gateway answer rightly?
import { bodies, forbiddenBody, streamBody } from './bodies.mjs';
import { ask } from './request.mjs';

const stampPattern = /"t":\d{16}/g;

/** Throws unless all answer 200, the gateway with the provider's very bytes, and its policies refuse what they must. */
export async function checkJson(started, provider) {
  for (const [name, build] of Object.entries(bodies)) {
    const body = build();
    const expected = await ask({ port: provider.port, headers: {}, body });
    for (const target of started) await checkAnswer(target, { name, body, expected: expected.text });
  }
  for (const target of started) {
    if (!target.contender.isGateway) continue;
    const { status } = await ask({ ...target, body: forbiddenBody() });
    const wanted = target.contender.policy === 'none' ? 200 : 403;
    if (status !== wanted)
      throw new Error(`${target.name}: a forbidden body was answered ${status}, not ${wanted}`);
    const unknown = await ask({
      ...target,
      headers: { authorization: 'Bearer wrong' },
      body: forbiddenBody(),
    });
    if (unknown.status !== 401) throw new Error(`${target.name}: a wrong key was answered ${unknown.status}`);
  }
}

export async function checkStreams(started, provider) {
  const body = streamBody({ events: 20, gapMs: 0 });
  const expected = await ask({ port: provider.port, headers: {}, body });
  for (const target of started) {
    await checkAnswer(target, { name: 'stream', body, expected: expected.text.replace(stampPattern, '') });
  }
}

async function checkAnswer(target, { name, body, expected }) {
  const { status, text } = await ask({ ...target, body });
  if (status !== 200) throw new Error(`${target.name}, ${name}: ${status} ${text.slice(0, 300)}`);
  if (target.contender.isGateway && text.replace(stampPattern, '') !== expected) {
    throw new Error(`${target.name}, ${name}: the answer is not the provider's: ${text.slice(0, 300)}`);
  }
}
