import { expect, test } from 'vitest';
import { errorDetails } from '../../src/client/call.ts';
import { hashKey } from '../../src/config/build/keys.ts';
import type { Fields } from '../../src/dialects/fields.ts';
import { decideOffline } from '../../src/gateway/offline/decide-offline.ts';
import { explainRequest } from '../../src/gateway/offline/explain-request.ts';
import { destinationNamed } from '../../src/gateway/offline/question.ts';
import { tryTask } from '../../src/inspector/tasks/decision-task.ts';
import { pathFor, speakAll } from '../kit/answers.ts';
import { modelsAt, providersAt } from '../kit/config.ts';
import { configFrom, post, startGateway } from '../kit/gateway.ts';
import { startHost } from '../kit/host.ts';
import { isExhaustive, scale } from '../kit/scale.ts';
import { bodies } from './agreement/bodies.ts';

// "policy explain", "policy test", "send --dry-run" and the live page predict what a gateway decides. So each body is
// put to each policy in all these ways, and sent to a running gateway.

const policies = `
  phrases:
    rules:
      - { id: codename, action: block, when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }
      - { id: lake, action: block, when: { text: { phrases: ["silver lake"], in: [user] } }, reason: content.lake }
      - { id: tone, action: warn, when: { text: { phrases: ["please"] } }, reason: content.tone }
  redacting:
    rules:
      - { id: cards, action: redact, when: { text: { detect: [credit_card] } }, reason: content.card }
      - { id: mails, action: redact, when: { text: { detect: [email] } }, except: { text: { phrases: ["ops@acme.example"] } }, reason: content.email }
      - { id: codename-out, action: redact, when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }
  watching:
    mode: monitor
    rules:
      - { id: seen-cards, action: redact, when: { text: { detect: [credit_card] } }, reason: content.card }
      - { id: seen-codename, action: block, when: { text: { phrases: ["project nightfall"] } }, reason: content.codename }
  strict:
    default: deny
    opaque_content: block
    unseen_references: block
    rules:
      - { id: shell, action: block, when: { tools: [shell] }, reason: tools.shell }
      - { id: long, action: block, when: { max_output_tokens: { over: 100 } }, reason: tokens.cap }
      - { id: big, action: block, when: { bytes: { over: 3000 } }, reason: bytes.big }
      - { id: chatting, action: allow, when: { endpoint: [messages, chat, responses, gemini] } }
`;
const names = ['phrases', 'redacting', 'watching', 'strict'] as const;
const keyOf = (name: string) => `key-of-${name}-0123456789`;
const host = await startHost(speakAll);
const yaml = `
providers:
${providersAt(host.url)}
models:
${modelsAt('to-')}
policies: ${policies}
projects:
  shop:
    keys:
${names.map((name) => `      - { id: ${name}, hash: "sha256:${hashKey(keyOf(name))}", policies: [${name}] }`).join('\n')}
`;
const gateway = await startGateway(yaml);
const config = await configFrom(yaml);

const targets = ['messages', 'chat', 'responses', 'gemini'] as const;

const ruleIds = (ids: readonly string[] = []) => [...new Set(ids)].sort();

/** Every dialect at both ends once, or all pairs. */
const isTried = (client: number, provider: number) =>
  isExhaustive || provider === (client + 1) % targets.length;

for (const [i, dialect] of targets.entries()) {
  for (const target of targets.filter((_, at) => isTried(i, at))) {
    test.each(bodies[dialect].map((body, number) => [...body, number] as const))(
      `${dialect} to ${target}: %s is decided as predicted`,
      async (_name, fields, number) => {
        for (const [at, name] of names.entries()) {
          // One of the policies for a body, or all of them.
          if ((number + at) % scale(names.length, 2) !== 0) continue;
          const model = `to-${target}`;
          const path = pathFor(dialect, model);
          const body = Buffer.from(JSON.stringify(dialect === 'gemini' ? fields : { model, ...fields }));
          const key = [...config.keys.records()].find(({ id }) => id === name);
          if (key === undefined) throw new Error(`no key ${name}`);
          const question = { config, key, ...destinationNamed(path), body, nowMs: Date.now() };
          const { predicted } = await decideOffline(question);
          const explained = await explainRequest(question);
          const before = host.requests.length;
          const answer = await post(gateway, path, body.toString(), {
            headers: { authorization: `Bearer ${keyOf(name)}` },
          });
          const error = answer.ok
            ? undefined
            : errorDetails(((await answer.json()) as { error: Fields }).error);
          if (answer.ok) await answer.arrayBuffer();
          const id = answer.headers.get('x-request-id');
          const record = await gateway.recordWhere(({ request_id }) => request_id === id);
          const about = `${name}, ${dialect} to ${target}: ${body.toString().slice(0, 200)}`;

          // A request that no target can take is refused after the decision.
          const isUntranslatable = explained.outgoing?.[0]?.unsupported !== undefined;
          const isBlocked = predicted.decision === 'block';
          expect(answer.status === 200, about).toBe(!isBlocked && !isUntranslatable);
          if (isBlocked) expect(error?.reason, about).toBe(predicted.reason);
          if (isBlocked) expect(host.requests.length, about).toBe(before);
          if (record.decision !== undefined) {
            expect(record.decision, about).toBe(predicted.decision);
            expect(ruleIds(record.would_block), about).toEqual(ruleIds(predicted.would_block));
            const matched = explained.rules.filter((rule) => rule.matched).map(({ rule }) => rule);
            const here = record.rules?.filter(({ on }) => on === undefined).map(({ id: rule }) => rule);
            expect(ruleIds(here), about).toEqual(ruleIds(matched));
          }
          const { rules: _, outgoing: _o, ...summary } = explained;
          expect(summary, about).toMatchObject(predicted);
          // The live page compiles the policies anew, which takes long, and knows no target.
          if (isExhaustive ? target !== dialect : number % 3 !== 0) continue;
          const [endpoint, atMs] = [path, question.nowMs];
          const tried = await tryTask({ source: config.source, policies, body, endpoint, key: name, atMs });
          expect(tried.kind === 'decided' ? tried.decision : tried, about).toBe(predicted.decision);
          if (tried.kind === 'decided') expect(tried.rule, about).toBe(predicted.rule);
        }
      },
    );
  }
}
