import { eventsOf, wholeOf } from '../../../src/dialects/answer-forms.ts';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import type { SseEvent } from '../../../src/dialects/sse.ts';
import type { Translation } from '../../../src/dialects/translate.ts';
import { sealEdits } from '../../../src/dialects/translation/foreign-seals.ts';
import type { Host } from '../../../src/hosts/find-host.ts';
import { applyEdits } from '../../../src/json/byte-edits.ts';
import { parseStrictJson } from '../../../src/json/strict-json.ts';
import { chatPieces } from '../../kit/chat-pieces.ts';
import { textDialects } from '../../kit/dialects.ts';
import { answerOf, type CallForm, clients, type Fault, type Plan, type Step } from '../../kit/five-turns.ts';
import type { Fields } from '../../kit/strict/shapes.ts';
import { type Issued, refusalOf, type Vendor, vendors } from '../../kit/strict/vendors.ts';
import { runStream, sseOf, startTranslation } from './run-translation.ts';

/** A vendor of a row of the table. */
export interface VendorRow {
  readonly host: Host;
  readonly vendor: Vendor;
  readonly name: string;
}

export const rows: readonly VendorRow[] = Object.entries(vendors).flatMap(([host, list]) =>
  list.map((vendor) => ({ host: host as Host, vendor, name: `${host} ${vendor.dialect} ${vendor.model}` })),
);

const all: readonly (VendorRow & { readonly client: TextDialectName })[] = textDialects.flatMap((client) =>
  rows.map((row) => ({ client, ...row })),
);

/** Each client at each row of another dialect. */
export const pairs = all.filter(({ client, vendor }) => vendor.dialect !== client);

/** Each client at hosts of its own dialect, where a conversation may go on without translation. */
export const untranslated = all.filter(({ client, vendor }) => vendor.dialect === client);

interface Target {
  readonly host: Host;
  /** Of two providers at one kind of host, neither takes what the other has signed. */
  readonly origin: string;
  readonly vendor: Vendor;
  readonly issued: Issued;
}

export interface Conversation {
  readonly client: TextDialectName;
  /** The row itself, and the one that some turns go to. */
  readonly targets: readonly [Target, Target];
  readonly plan: Plan;
  readonly isStream: boolean;
  /** Called for each request, with what the translation left out. */
  readonly onSent?: (sent: unknown, dropped: readonly string[], step: Step) => void;
}

/** Goes through a conversation; throws where the vendor refuses a request, or the client gets another answer. */
export function converse({ client, targets, plan, isStream, onSent }: Conversation): void {
  const { field, start, user, assistant, replay, callsOf, results, options, extras } = clients[client];
  let history: Fields[] = [user('hello')];
  for (const [turn, step] of plan.turns.entries()) {
    const target = targets[plan.elsewhere.has(turn) ? 1 : 0];
    const { vendor, issued } = target;
    const sent = step.isBegun ? [...history, assistant('So')] : history;
    const asked = { ...options[step.option]?.(start), [field]: sent };
    const ask = (said: Fields, fault: Fault): Fields => {
      const { answer, sent, dropped } = exchange({
        client,
        body: asked,
        target,
        said,
        isStream,
        step,
        fault,
      });
      onSent?.(sent, dropped, step);
      return answer;
    };
    const canFail = vendor.dialect !== client && (isStream || step.fault !== 'error in stream');
    if (step.fault !== 'none' && canFail)
      expectFailure(() => ask(answerOf(vendor, step, turn, issued), step.fault));
    const said = answerOf(vendor, step, turn, issued);
    const answer = ask(said, 'none');
    if (client === 'gemini' && vendor.dialect !== client) expectBytes(JSON.stringify(answer));
    const calls = callsOf(answer);
    if (vendor.dialect !== client) expectSame(callsOf(answerFor(client, said)), calls);
    history = [
      ...(step.isCompacted ? [user('Before: we spoke of the weather.')] : history),
      ...(extras[step.extra] ?? []),
      ...(extras[step.extra] === undefined ? [] : [user('go on')]),
      ...replay(answer),
      ...(calls.length > 0 ? results(calls, step.answers) : [user(`go on with ${turn}`)]),
    ];
  }

  function expectSame(expected: readonly { name: string }[], got: readonly { name: string }[]): void {
    const namesOf = (calls: readonly { name: string }[]) => calls.map(({ name }) => name).join();
    if (namesOf(expected) !== namesOf(got))
      throw new Error(`the client got the calls ${namesOf(got)}, not ${namesOf(expected)}`);
  }

  /** The answer through a translation of nothing but itself. */
  function answerFor(to: TextDialectName, said: Fields): Fields {
    const target = targets[0];
    const translation = startTranslation(to, dialectOf(said), undefined, { host: target.host });
    return translation.answer(said).body as Fields;
  }
}

function dialectOf(said: Fields): TextDialectName {
  if ('choices' in said) return 'chat';
  if ('candidates' in said) return 'gemini';
  return said.type === 'message' ? 'messages' : 'responses';
}

/** Google's SDKs for Python, Go and Java read signatures as base64, and fail at others. */
function expectBytes(answer: string): void {
  for (const [, signature = ''] of answer.matchAll(/"thoughtSignature":"([^"]*)"/g))
    if (Buffer.from(signature, 'base64').toString('base64') !== signature)
      throw new Error(`the signature ${signature} is not base64`);
}

function expectFailure(ask: () => Fields): void {
  let answer: Fields | undefined;
  try {
    answer = ask();
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    return;
  }
  throw new Error(`a failure looks like an answer: ${JSON.stringify(answer).slice(0, 300)}`);
}

class Refusal extends Error {}

interface Turn {
  readonly client: TextDialectName;
  readonly body: Fields;
  readonly target: Target;
  readonly said: Fields;
  readonly isStream: boolean;
  readonly step: Step;
  readonly fault: Fault;
}

/** The request as the vendor gets it, and the answer as the client gets it. */
function exchange({ client, body, target, said, isStream, step, fault }: Turn) {
  const { host, origin, vendor, issued } = target;
  if (vendor.dialect === client) return passOn(body, target, said);
  const context = { host, origin, targetModel: vendor.model };
  const translation = startTranslation(client, vendor.dialect, undefined, context);
  const { body: sent, dropped } = translation.request({
    ...body,
    ...(client !== 'gemini' && { stream: isStream }),
  });
  const refusal = refusalOf(vendor, sent, issued);
  if (refusal !== undefined) throw new Refusal(`${refusal}\n${JSON.stringify(sent, undefined, 1)}`);
  if (!isStream) return { answer: translation.answer(withFault(said, fault)).body as Fields, sent, dropped };
  const events = withForm(streamOf(said, vendor, fault), vendor, step.callForm);
  const { text, thrown, state } = runStream(translation, [Buffer.from(sseOf(events))]);
  if (thrown !== undefined) throw thrown;
  if (state !== 'complete' && state !== 'cut') throw new Error(`the stream is ${state}`);
  const answer = wholeOf(dialects[client], Buffer.from(text));
  if (fault === 'none')
    expectSameGathered({ client, translation, streamed: answer, events, dialect: vendor.dialect });
  return { answer, sent, dropped };
}

interface Gathered {
  readonly client: TextDialectName;
  readonly dialect: TextDialectName;
  readonly translation: Translation;
  readonly streamed: Fields;
  readonly events: readonly SseEvent[];
}

/** A client that asked for a whole answer gets what another gets as a stream. */
function expectSameGathered({ client, dialect, translation, streamed, events }: Gathered): void {
  const whole = wholeOf(dialects[dialect], Buffer.from(sseOf(events)));
  const got = saidIn(client, translation.answer(whole).body as Fields);
  const expected = saidIn(client, streamed);
  if (got !== expected) throw new Error(`gathered, the answer is ${got}, streamed ${expected}`);
}

/** What an answer says, without the ids that the gateway makes up. */
function saidIn(client: TextDialectName, answer: Fields): string {
  const { parts, finish } = dialects[client].codec.parseAnswer(answer);
  const said = parts.flatMap((part): readonly unknown[] => {
    if (part.kind === 'call')
      return [{ name: part.call.name, input: part.call.input, seal: part.call.seal?.data }];
    return part.kind === 'thinking' ? [part.text, part.seal?.data] : [part.text];
  });
  return JSON.stringify({ said, finish }).replace(/rs_id\d+/g, 'rs');
}

/** The client's own dialect: its bytes without what was sealed for another host, and the answer as it is. */
function passOn(body: Fields, { host, vendor }: Target, answer: Fields) {
  const document = parseStrictJson(Buffer.from(JSON.stringify(body)));
  const edits = sealEdits(document, vendor.dialect, { host, targetModel: vendor.model });
  const sent: unknown = JSON.parse(String(applyEdits(document.bytes, edits)));
  const isSealed = /"(?:gw1-|Z3cxL)/.test(JSON.stringify(sent));
  if (isSealed) throw new Refusal(`a seal is left\n${JSON.stringify(sent, undefined, 1)}`);
  return { answer, sent, dropped: [] };
}

const error = { message: 'the host failed', code: 500, status: 'INTERNAL', type: 'api_error' };

/** The event with which a stream of the dialect reports a failure. */
function errorEvent(dialect: TextDialectName): SseEvent {
  if (dialect === 'messages') return { name: 'error', data: JSON.stringify({ type: 'error', error }) };
  if (dialect === 'responses') return { name: 'error', data: JSON.stringify({ ...error, type: 'error' }) };
  return { name: undefined, data: JSON.stringify({ error }) };
}

/** The stream of an answer, with the failure that its host has. */
function streamOf(said: Fields, { dialect }: Vendor, fault: Fault): readonly SseEvent[] {
  if (fault === 'error alone') return [errorEvent(dialect)];
  const failed = withFault(said, fault);
  const events = dialect === 'chat' ? chatPieces(failed) : (eventsOf(dialects[dialect], failed) ?? []);
  return fault === 'error in stream' ? [...events.slice(0, events.length / 2), errorEvent(dialect)] : events;
}

/** The answer with a failure in it, where hosts have reported to have one. */
function withFault(said: Fields, fault: Fault): Fields {
  if (fault === 'none') return said;
  if (fault === 'error in stream') return said;
  if (fault === 'error alone') return { ...(said.type === 'message' && { type: 'error' }), error };
  const word = fault === 'failed word' ? 'error' : 'never_heard_of';
  if ('choices' in said) {
    const [choice] = said.choices as readonly Fields[];
    const wrong = fault === 'error in choice' ? { error, finish_reason: 'error' } : { finish_reason: word };
    return { ...said, choices: [{ ...choice, ...wrong }] };
  }
  if ('candidates' in said) {
    const [candidate] = said.candidates as readonly Fields[];
    return { ...said, candidates: [{ ...candidate, finishReason: word.toUpperCase() }] };
  }
  if (said.type === 'message') return { ...said, stop_reason: word };
  return { ...said, status: 'failed', error };
}

/** The stream with its calls as some hosts write them. */
function withForm(events: readonly SseEvent[], { dialect }: Vendor, form: CallForm): readonly SseEvent[] {
  if (dialect !== 'chat' || form === 'usual') return events;
  const begun = new Map<unknown, Fields>();
  return events.map(({ name, data }) => {
    if (!data.includes('"tool_calls"')) return { name, data };
    const chunk = JSON.parse(data) as { choices: { delta: { tool_calls?: Fields[] } }[] };
    for (const { delta } of chunk.choices)
      if (delta.tool_calls !== undefined) delta.tool_calls = delta.tool_calls.map(change);
    return { name, data: JSON.stringify(chunk) };
  });

  function change(call: Fields): Fields {
    const isFirst = !begun.has(call.index);
    if (isFirst) begun.set(call.index, call);
    const { index, ...unnumbered } = call;
    const first = begun.get(index) ?? {};
    const called = (call.function ?? {}) as Fields;
    switch (form) {
      case 'index from 1':
        return { ...call, index: Number(index) + 1 };
      case 'far indexes':
        return { ...call, index: (Number(index) + 1) * 1e9 };
      case 'id and name in each piece':
        return {
          ...call,
          ...(first.id !== '' && { id: first.id }),
          function: { ...called, name: (first.function as Fields).name },
        };
      case 'index 0 for all':
        return { ...call, index: 0 };
      case 'no index':
        return unnumbered;
      case 'null arguments':
        return isFirst && called.arguments === ''
          ? { ...call, function: { ...called, arguments: null } }
          : call;
      case 'leading {}':
        return isFirst && called.arguments === ''
          ? { ...call, function: { ...called, arguments: '{}' } }
          : call;
      case 'usual':
        return call;
    }
  }
}
