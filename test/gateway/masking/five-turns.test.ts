import { describe, expect, test } from 'vitest';
import { eventsOf, wholeOf } from '../../../src/dialects/answer-forms.ts';
import { dialects } from '../../../src/dialects/registry.ts';
import { formatSse } from '../../../src/dialects/sse.ts';
import { pairs, type VendorRow } from '../../dialects/translation/converse.ts';
import { json, stream } from '../../kit/answers.ts';
import { answerOf, clients, randomPlan, type Step } from '../../kit/five-turns.ts';
import { askedAt } from '../../kit/forms.ts';
import { post, secrets, startGateway } from '../../kit/gateway.ts';
import { startHost } from '../../kit/host.ts';
import { createRandom } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import type { Fields } from '../../kit/strict/shapes.ts';
import { type Issued, nothingIssued, refusalOf } from '../../kit/strict/vendors.ts';
import { maskSecret } from './masked-gateway.ts';

// Conversations of five turns at hosts that refuse what their vendors refuse, with a value that is masked in each turn and
// rules on answers in force: no request is refused, nothing of the value leaves, and the client reads it in the answers.

const value = 'ann@example.com';
/** Bedrock and Vertex have paths and streams of their own; their bodies are those of the other rows. */
const all = pairs.filter(({ host }) => host !== 'bedrock' && host !== 'vertex');
const rows = [...new Map(all.map((row) => [row.name, row])).values()];
const families = { messages: 'anthropic', gemini: 'gemini', chat: 'openai', responses: 'openai' };

const host = await startHost(json('{}'));
const gateway = await startGateway(`
providers:
${rows.map((row, at) => `  row${at}: ${providerOf(row)}`).join('\n')}
models:
${rows.map(({ vendor }, at) => `  - { match: row${at}, provider: row${at}, model: "${vendor.model}" }`).join('\n')}
masking: { secret: ${maskSecret} }
policies:
  safe:
    rules:
      - { id: found, action: mask, when: { text: { detect: [email] } } }
      - { id: deed, action: block, apply_to: [response], when: { text: { phrases: [drop table plants] } } }
projects:
  shop: { policies: [safe], keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }] }
plants: { store: { enabled: false } }
`);

function providerOf({ host: name, vendor: { dialect } }: VendorRow): string {
  const family = families[dialect];
  const isNamed = name !== 'local' && name !== 'unknown';
  const base = family === 'openai' ? `${host.url}/v1` : host.url;
  const endpoints = family === 'openai' ? `, endpoints: [${dialect}]` : '';
  return `{ dialect: ${family}${isNamed ? `, host: ${name}` : ''}, base_url: "${base}", api_key: "\${PROVIDER_KEY}"${endpoints} }`;
}

interface Turn {
  readonly row: VendorRow;
  readonly step: Step;
  readonly turn: number;
  readonly isStream: boolean;
  readonly issued: Issued;
  readonly wrong: unknown[];
}

/** The vendor's answer, which repeats what stood in place of the value, and what is wrong with the request. */
function answerAs({ row: { vendor }, step, turn, isStream, issued, wrong }: Turn): void {
  host.script((response, request) => {
    const sent = request.body.toString();
    const refusal = refusalOf(vendor, JSON.parse(sent), issued);
    if (refusal !== undefined) wrong.push({ turn, refusal });
    if (sent.includes(value)) wrong.push({ turn, left: value });
    const [, placeholder = ''] = /write to (\S+) today/.exec(sent) ?? [];
    const said = JSON.stringify(answerOf(vendor, step, turn, issued)).replaceAll(
      /Said in turn|Köln/g,
      (text) => `${text} ${placeholder}`,
    );
    if (!isStream) return json(said)(response, request);
    const events = eventsOf(dialects[vendor.dialect], JSON.parse(said) as Fields) ?? [];
    return stream([events.map(({ name, data }) => formatSse(name, data)).join('')])(response, request);
  });
}

const tried = all.filter((_, at) => at % scale(4, 1) === 0);

describe.each(tried)('a $client client at $name, masked', ({ client, ...row }) => {
  test('is never refused, and nothing of the value leaves', { timeout: 120_000 }, async () => {
    const { field, start, user, replay, callsOf, results, options } = clients[client];
    const random = createRandom(client.length * 1_000 + row.name.length);
    const model = `row${rows.findIndex(({ name }) => name === row.name)}`;
    const wrong: unknown[] = [];
    for (let round = 0; round < scale(1, 2); round += 1) {
      const plan = randomPlan(random, clients[client]);
      const isStream = random.below(2) === 0;
      const issued = nothingIssued();
      let history: Fields[] = [user(`write to ${value} today`)];
      for (const [turn, step] of plan.turns.entries()) {
        answerAs({ row, step, turn, isStream, issued, wrong });
        const body = {
          ...options[step.option]?.(start),
          [field]: history,
          ...(client !== 'gemini' && { model, stream: isStream }),
        };
        const init = { headers: { authorization: `Bearer ${secrets.PROJECT_KEY}` } };
        const response = await post(gateway, askedAt(client, model, isStream), body, init);
        const came = await response.text();
        if (response.status !== 200) {
          wrong.push({ turn, status: response.status, option: step.option, came: came.slice(0, 300) });
          break;
        }
        const answer = isStream ? wholeOf(dialects[client], Buffer.from(came)) : (JSON.parse(came) as Fields);
        const isSaid = /Said in turn|Köln/.test(came);
        if (isSaid && !came.includes(value)) wrong.push({ turn, unmasked: came.slice(0, 300) });
        const calls = callsOf(answer);
        history = [
          ...history,
          ...replay(answer),
          ...(calls.length > 0 ? results(calls, step.answers) : [user(`${value} again, ${turn}`)]),
        ];
      }
    }

    expect(wrong).toEqual([]);
  });
});
