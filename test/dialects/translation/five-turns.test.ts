import { describe, expect, test } from 'vitest';
import { eventsOf, wholeOf } from '../../../src/dialects/answer-forms.ts';
import type { Fields } from '../../../src/dialects/fields.ts';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import type { Host } from '../../../src/hosts/find-host.ts';
import { textDialects } from '../../kit/dialects.ts';
import { answerOf, clients, type Plan, randomPlan } from '../../kit/five-turns.ts';
import { createRandom } from '../../kit/random.ts';
import { scale } from '../../kit/scale.ts';
import { type Issued, refusalOf, type Vendor, vendors } from '../../kit/strict/vendors.ts';
import { runStream, sseOf, startTranslation } from './run-translation.ts';

// Conversations of five turns of each client at each host: nothing of them is refused, whatever the host said before, also
// where a turn went to another host in between.

interface Target {
  readonly host: Host;
  readonly vendor: Vendor;
  readonly issued: Issued;
}

const rows = Object.entries(vendors).flatMap(([host, list]) =>
  list.map((vendor) => ({ host: host as Host, vendor, name: `${host} ${vendor.dialect} ${vendor.model}` })),
);
const pairs = textDialects.flatMap((client) =>
  rows.filter(({ vendor }) => vendor.dialect !== client).map((row) => ({ client, ...row })),
);

/** One turn: the request as the vendor gets it, and the answer as the client gets it. */
function exchange(
  client: TextDialectName,
  body: Fields,
  target: Target,
  answer: Fields,
  isStream: boolean,
): Fields {
  const { host, vendor, issued } = target;
  const translation = startTranslation(client, vendor.dialect, undefined, {
    host,
    targetModel: vendor.model,
  });
  const sent = translation.request({ ...body, ...(client !== 'gemini' && { stream: isStream }) }).body;
  const refusal = refusalOf(vendor, sent, issued);
  if (refusal !== undefined) throw new Error(`${refusal}\n${JSON.stringify(sent, undefined, 1)}`);
  if (!isStream) return translation.answer(answer).body as Fields;
  const events = eventsOf(dialects[vendor.dialect], answer) ?? [];
  const { text, thrown } = runStream(translation, [Buffer.from(sseOf(events))]);
  if (thrown !== undefined) throw thrown;
  return wholeOf(dialects[client], Buffer.from(text));
}

function converse(
  client: TextDialectName,
  targets: readonly [Target, Target],
  plan: Plan,
  isStream: boolean,
): void {
  const { field, start, user, replay, callsOf, results } = clients[client];
  let history: Fields[] = [user('hello')];
  for (const [turn, step] of plan.turns.entries()) {
    const target = targets[plan.elsewhere.has(turn) ? 1 : 0];
    const said = answerOf(target.vendor, step, turn, target.issued);
    const answer = exchange(client, { ...start, [field]: history }, target, said, isStream);
    const calls = callsOf(answer);
    history = [
      ...(step.isCompacted ? [user('Before: we spoke of the weather.')] : history),
      ...replay(answer),
      ...(calls.length > 0 ? results(calls, step.answers) : [user(`go on with ${turn}`)]),
    ];
  }
}

describe.each(pairs)('a $client client at $name', ({ client, ...row }) => {
  test('is never refused', () => {
    const random = createRandom(client.length * 1_000 + row.name.length);
    for (let round = 0; round < scale(2, 200); round += 1) {
      const plan = randomPlan(random);
      const other = random.of(pairs.filter((pair) => pair.client === client));
      const seals = new Set<string>();
      const isSame = other.host === row.host;
      const targets = [row, other].map((each) => ({
        ...each,
        issued: { seals: isSame ? seals : new Set<string>() },
      }));
      const isStream = random.below(2) === 0;
      try {
        converse(client, targets as unknown as [Target, Target], plan, isStream);
      } catch (cause) {
        const { message } = cause as Error;
        const turns = plan.turns.map((turn) => `${turn.says}/${turn.answers}/${turn.ids}`).join(', ');
        throw new Error(
          `${isStream ? 'streamed' : 'whole'}, with ${other.name}: ${turns}; elsewhere ${[...plan.elsewhere]}: ${message}`,
        );
      }
    }
    expect(random.next()).toBeGreaterThan(0);
  });
});
