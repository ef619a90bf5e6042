import type { TextDialectName } from '../../../src/dialects/registry.ts';
import { pathFor } from '../../kit/answers.ts';
import { textDialects } from '../../kit/dialects.ts';
import { post, startGateway } from '../../kit/gateway.ts';
import { createRandom, type Random } from '../../kit/random.ts';
import { lies, type Order, startLyingHost } from './lying-host.ts';

const cap = 200;
const models = ['m', 'gpt-4.1', 'claude-opus-4-5', 'gemini-2.5-flash', 'translated', 'to-google', 'fallen'];
/** When a client leaves: before the head, after it, amid the answer; or it reads all of it. */
const phases = ['head', 'first byte', 'amid', 'never', 'never', 'never'] as const;

export interface Spending {
  readonly budget: number;
  /** By the host's own count; each costs a millionth of a US$, of which the budget has as many. */
  readonly tokens: number;
  readonly answered: number;
  readonly refused: number;
}

interface Plan {
  /** The lies that hosts tell, by their place in the list. */
  readonly lies: readonly number[];
  readonly exchanges: number;
  /** How many exchanges the budget is for, if each uses its worst case. */
  readonly budgetFor: number;
  readonly seed: number;
}

/** Sends exchanges of every dialect, streamed and not, and adds up what they really cost at the host. */
export async function spend({ lies: told, exchanges, budgetFor, seed }: Plan): Promise<Spending> {
  const host = await startLyingHost();
  const longest = { order: { lie: 99, tokens: cap, perEvent: 100, cap }, isStream: true };
  const worst = Math.ceil(JSON.stringify(bodyOf('chat', 'm', longest)).length / 3) + cap;
  const budget = budgetFor * worst;
  const pricing = 'pricing: { input: 1, output: 1 }';
  const timeouts = 'timeouts: { headers: 500ms, idle: 500ms }';
  const yaml = `
providers:
  host: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat, responses], ${timeouts} }
  claude: { dialect: anthropic, base_url: "${host.url}", ${timeouts} }
  google: { dialect: gemini, base_url: "${host.url}", ${timeouts} }
  chatonly: { dialect: openai, base_url: "${host.url}/v1", endpoints: [chat], ${timeouts} }
models:
  - { match: m, provider: host, ${pricing}, fallbacks: [{ provider: claude, model: m }] }
  - { match: gpt-4.1, provider: host, ${pricing} }
  - { match: claude-opus-4-5, provider: claude, ${pricing} }
  - { match: gemini-2.5-flash, provider: google, ${pricing} }
  - { match: to-google, provider: google, model: m, ${pricing}, fallbacks: [{ provider: host, model: m }] }
  - { match: translated, provider: chatonly, ${pricing}, model: gpt-4.1 }
  - { match: fallen, provider: host, model: broken, ${pricing}, fallbacks: [{ provider: chatonly, model: m }] }
projects:
  shop:
    limits: { tokens_per_day: ${budget}, usd_per_day: ${budget / 1e6} }
    keys: [{ id: shop-web, value: "\${PROJECT_KEY}" }]
`;
  const gateway = await startGateway(yaml);
  const random = createRandom(seed);
  let answered = 0;
  let refused = 0;
  let begun = 0;
  const work = async () => {
    while (begun < exchanges) {
      begun += 1;
      const status = await exchange(random, told);
      if (status === 429) refused += 1;
      else answered += 1;
    }
  };
  const exchange = async (by: Random, among: readonly number[]): Promise<number> => {
    const tokens = by.of([1, 20, 100, cap]);
    const order = { lie: by.of(among), tokens, perEvent: by.of([1, 10, 100]), cap };
    const dialect = by.of(textDialects);
    // A request that says not to reason is believed, so hidden reasoning needs a model that may.
    const mayHide = lies[order.lie]?.hidesReasoning === true;
    const model = by.of(mayHide ? ['m', 'to-google', 'fallen'] : models);
    const phase = by.of(phases);
    const leaving = new AbortController();
    const isStream = by.of([true, true, false]);
    const body = bodyOf(dialect, model, { order, isStream });
    try {
      const posted = post(gateway, pathFor(dialect, model, isStream), body, { signal: leaving.signal });
      if (phase === 'head') setTimeout(() => leaving.abort(), by.below(8));
      const answer = await posted;
      if (phase === 'first byte') leaving.abort();
      if (phase === 'amid') setTimeout(() => leaving.abort(), by.below(8));
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 0; // it left, or the answer was cut
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  await gateway.stop();
  const { input, output } = host.billed();
  await host.close();
  return { budget, tokens: input + output, answered, refused };
}

interface Sent {
  readonly order: Order;
  readonly isStream: boolean;
}

function bodyOf(dialect: TextDialectName, model: string, { order, isStream }: Sent): object {
  const text = `order:${encodeURIComponent(JSON.stringify(order))}`;
  if (dialect === 'gemini')
    return { contents: [{ role: 'user', parts: [{ text }] }], generationConfig: { maxOutputTokens: cap } };
  const head = { model, stream: isStream };
  if (dialect === 'responses') return { ...head, input: text, max_output_tokens: cap };
  return { ...head, max_tokens: cap, messages: [{ role: 'user', content: text }] };
}
