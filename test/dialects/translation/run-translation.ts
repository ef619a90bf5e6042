import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import { formatSse, type SseEvent, SseParser } from '../../../src/dialects/sse.ts';
import {
  createTranslation,
  type StreamTranslation,
  type Translation,
} from '../../../src/dialects/translate.ts';
import type { TranslationContext } from '../../../src/dialects/translation/context.ts';
import { recordedStream } from '../../kit/recorded-streams.ts';

/** A context whose ids count up, so that equal inputs give equal outputs. */
export function newContext(changes: Partial<TranslationContext> = {}): TranslationContext {
  let ids = 0;
  return {
    requestedModel: 'asked-for',
    targetModel: 'target-model',
    host: 'unknown',
    origin: 'host',
    newId: (prefix) => {
      ids += 1;
      return `${prefix}id${ids}`;
    },
    createdS: 1_763_000_000,
    ...changes,
  };
}

const parameters = { type: 'object', properties: { city: { type: 'string' } } };
/** The tools that the recorded streams call. */
const tools = (form: (name: string) => object) => ['get_weather', 'list_plants'].map(form);
const turns = [{ role: 'user', content: 'hello' }];
const model = { model: 'asked-for', stream: true };

/** A small request of each dialect with those tools. */
const smallRequests = {
  messages: {
    ...model,
    max_tokens: 1_000,
    messages: turns,
    tools: tools((name) => ({ name, input_schema: parameters })),
  },
  chat: {
    ...model,
    stream_options: { include_usage: true },
    messages: turns,
    tools: tools((name) => ({ type: 'function', function: { name, parameters } })),
  },
  responses: {
    ...model,
    input: 'hello',
    tools: tools((name) => ({ type: 'function', name, parameters, strict: null })),
  },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
    tools: [{ functionDeclarations: tools((name) => ({ name, parametersJsonSchema: parameters })) }],
  },
} satisfies Record<TextDialectName, unknown>;

/** A translation that has already seen its request. */
export function startTranslation(
  client: TextDialectName,
  provider: TextDialectName,
  request: unknown = smallRequests[client],
  changes: Partial<TranslationContext> = {},
): Translation {
  const translation = createTranslation(dialects[client], dialects[provider], newContext(changes));
  translation.request(request);
  return translation;
}

export interface Streamed {
  readonly text: string;
  readonly state: StreamTranslation['state'];
  readonly usage: StreamTranslation['tally']['usage'];
  readonly thrown: unknown;
}

/** Events as the client gets them. */
export function sseOf(events: readonly SseEvent[]): string {
  return events.map(({ name, data }) => formatSse(name, data)).join('');
}

/** Sends the provider's chunks through and gathers what the client would get. */
export function runStream(translation: Translation, chunks: readonly Uint8Array[]): Streamed {
  const stream = translation.stream();
  let text = '';
  let thrown: unknown;
  try {
    const parser = new SseParser((name, data) => {
      text += sseOf(stream.event(name, data));
    });
    for (const chunk of chunks) parser.push(chunk);
    parser.end();
    text += sseOf(stream.end());
  } catch (error) {
    thrown = error;
  }
  return { text, state: stream.state, usage: stream.tally.usage, thrown };
}

export function runFixture(client: TextDialectName, provider: TextDialectName, scenario: string): Streamed {
  return runStream(startTranslation(client, provider), [recordedStream(`${provider}.${scenario}`)]);
}
