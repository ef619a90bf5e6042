import { createHash } from 'node:crypto';
import type { Answer, StreamWriter } from '../dialects/conversation.ts';
import type { TextDialect } from '../dialects/dialect.ts';
import { type Fields, isFields, toFields, toList, withoutAbsent, wrongField } from '../dialects/fields.ts';
import { toCamelCase } from '../dialects/gemini/wire.ts';
import { formatSse, type WriteEvent } from '../dialects/sse.ts';
import type { TranslationContext } from '../dialects/translation/context.ts';
import { noUsage, type Usage } from '../dialects/usage.ts';
import { GatewayError } from '../errors.ts';
import { type Asked, decideAnswers, deltaLengths } from './decide-answer.ts';
import { createdS, textKind } from './models.ts';
import type { Frame, SandboxAnswer } from './send.ts';
import { countPromptTokens, isMedia, slices } from './tokens.ts';

const maxChoices = 128;

/** Answers a request of a dialect, which reads it and writes the answer. Throws what is wrong with the request. */
export function answerText({ codec }: TextDialect, sent: Fields, model: string): SandboxAnswer {
  const body = normalized(codec, sent);
  const asked = readRequest({ codec }, body, model);
  const { kind, request } = asked;
  const answers = decideAnswers(asked, choicesOf(body));
  const usage = answers.reduce((sum, each) => addOutput(sum, each.usage ?? noUsage), {
    ...noUsage,
    inputTokens: asked.inputTokens,
  });
  const whole = answers.map((answer) => ({ ...answer, usage }));
  const context = contextOf(body, model);
  const echo = codec.echoOf?.(body) ?? {};
  const pace = kind === 'slow' || kind === 'cut' ? kind : 'free';
  const length = deltaLengths[kind];
  if (request.isStreaming) {
    const frames = whole.map((answer) =>
      answerFrames((write) => codec.createWriter(context, echo, write), answer, length),
    );
    return { kind: 'stream', frames: frames.length === 1 ? (frames[0] ?? []) : sideBySide(frames), pace };
  }
  const [value = {}, ...others] = whole.map((answer) => codec.buildAnswer(answer, context, echo));
  // Choices are written in parallel, so the longest one determines the duration.
  const deltas = Math.max(...whole.map((answer) => countDeltas(answer, length)));
  return { kind: 'plain', value: others.length === 0 ? value : withChoices(value, others), pace, deltas };
}

/** The tokens of a request without an answer. */
export function countRequest({ codec }: TextDialect, sent: Fields, model: string): number {
  return readRequest({ codec }, normalized(codec, sent), model).inputTokens;
}

/** With all fields of Google's in camelCase, also those that only this file reads. */
function normalized({ normalize }: TextDialect['codec'], sent: Fields): Fields {
  const body = normalize?.(sent) ?? sent;
  return body.contents === undefined ? body : toCamelCase(body);
}

const stateFields = ['previous_response_id', 'conversation', 'prompt', 'background', 'thread'];
const callableTypes: readonly unknown[] = [undefined, 'custom', 'function', 'namespace'];
const isCallable = (tool: unknown) => callableTypes.includes(toFields(tool).type);
/** Google's tools are members of one object. */
const declarationsOf = (tool: unknown) =>
  withoutAbsent({ functionDeclarations: toFields(tool).functionDeclarations });

function readRequest({ codec }: Pick<TextDialect, 'codec'>, body: Fields, model: string): Asked {
  const kept = stateFields.find((name) => body[name]);
  if (kept !== undefined) throw keepsNothing(kept);
  const { messages, input, system, instructions, tools, contents, systemInstruction } = body;
  const readable = {
    ...body,
    ...(messages !== undefined && { messages: withoutMedia(messages) }),
    ...(input !== undefined && { input: withoutMedia(input) }),
    ...(contents !== undefined && { contents: withoutMedia(contents), generationConfig: forOne(body) }),
    // Tools that a host runs itself are offered and never called.
    ...(Array.isArray(tools) && {
      tools: contents === undefined ? tools.filter(isCallable) : tools.map(declarationsOf),
    }),
  };
  const request = codec.parseRequest(readable, new Set());
  return {
    request,
    kind: textKind(model),
    mayThink: request.effort !== 'none' && toFields(body.thinking).type !== 'disabled',
    inputTokens: countPromptTokens(messages, input, system, instructions, tools, contents, systemInstruction),
  };
}

function keepsNothing(param: string): GatewayError {
  // Anthropic's clients act on this code: they send the whole conversation.
  const details = param === 'thread' ? { errorCode: 'thread_unsupported_request' } : {};
  const message = `${param}: the sandbox keeps nothing; send the whole conversation`;
  return new GatewayError('request.field', message, { param, ...details });
}

/** What can't be translated doesn't matter here: media count as tokens, and nothing else. */
export function withoutMedia(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((each) => !isMedia(each)).map(withoutMedia);
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutMedia(each)]));
}

/** Ids are derived from what is asked, not from how it is to be sent: a streamed answer has the ids of the plain one. */
export function contextOf(body: Fields, model: string): TranslationContext {
  const seed = sha256(JSON.stringify({ ...body, stream: undefined, stream_options: undefined }));
  const counts = new Map<string, number>();
  const newId = (prefix: string) => {
    // All choices of an answer have its id.
    const count = prefix === 'chatcmpl-' ? 0 : (counts.get(prefix) ?? 0);
    counts.set(prefix, count + 1);
    return prefix + sha256(`${seed} ${prefix} ${count}`).slice(0, 24);
  };
  return { requestedModel: model, targetModel: model, host: 'local', origin: 'sandbox', newId, createdS };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function* answerFrames(
  createWriter: (write: WriteEvent) => StreamWriter,
  { parts, finish, stopSequence, usage = noUsage }: Answer,
  length: number,
): Generator<Frame> {
  let out = '';
  const writer = createWriter((name, data) => {
    out += formatSse(name, data);
  });
  const frame = (kind: Frame['kind']): Frame => {
    const text = out;
    out = '';
    return { kind, text };
  };
  writer.start({ ...usage, outputTokens: 0, reasoningTokens: 0 });
  yield frame('other');
  for (const part of parts) {
    if (part.kind !== 'call') {
      for (const text of slices(part.text, length)) {
        writer[part.kind](text);
        yield frame('delta');
      }
      continue;
    }
    writer.callStart({ ...part.call, index: 0 });
    yield frame('other');
    for (const piece of slices(part.call.input, length)) {
      writer.callInput(0, piece);
      yield frame('delta');
    }
    writer.callEnd(0);
  }
  writer.complete(finish, usage, stopSequence);
  yield frame('other');
}

function countDeltas({ parts }: Answer, length: number): number {
  const texts = parts.map((part) => (part.kind === 'call' ? part.call.input : part.text));
  return texts.reduce((sum, text) => sum + [...slices(text, length)].length, 0);
}

function addOutput(sum: Usage, { outputTokens, reasoningTokens }: Usage): Usage {
  return {
    ...sum,
    outputTokens: sum.outputTokens + outputTokens,
    reasoningTokens: sum.reasoningTokens + reasoningTokens,
  };
}

// No translation carries several choices, of the Chat dialect or Gemini's; so they are put together here.

function choicesOf({ n, generationConfig }: Fields): number {
  const { candidateCount } = toFields(generationConfig);
  const count = n ?? candidateCount ?? 1;
  if (Number.isInteger(count) && Number(count) >= 1 && Number(count) <= maxChoices) return Number(count);
  throw wrongField(n === undefined ? 'candidateCount' : 'n', `a whole number from 1 to ${maxChoices}`);
}

/** Gemini's settings without the number of choices. */
function forOne({ generationConfig }: Fields): Fields {
  const { candidateCount: _, ...others } = toFields(generationConfig);
  return others;
}

function withChoices(first: Fields, others: readonly Fields[]): Fields {
  const name = first.choices === undefined ? 'candidates' : 'choices';
  const choices = [first, ...others].flatMap((answer) => toList(answer[name]));
  return { ...first, [name]: choices.map((choice, index) => ({ ...toFields(choice), index })) };
}

/** The streams of several choices, one after the other; only the last one ends the answer. */
function* sideBySide(streams: readonly Iterable<Frame>[]): Generator<Frame> {
  for (const [index, frames] of streams.entries()) {
    for (const { kind, text } of frames) {
      const own = text
        .replaceAll('"choices":[{"index":0,', `"choices":[{"index":${index},`)
        .replaceAll('"index":0}],"', `"index":${index}}],"`);
      const isLast = index === streams.length - 1;
      const shown = isLast
        ? own
        : own.replace(/data: [^\n]*"choices":\[\],"usage"[^\n]*\n\n/, '').replace('data: [DONE]\n\n', '');
      // One choice sets the pace, or n of them would be n times as slow.
      yield { kind: index === 0 ? kind : 'other', text: shown };
    }
  }
}
