import { methodFor } from '../../src/dialects/dialect.ts';
import { targetOf } from '../../src/dialects/model-path.ts';
import { type DialectName, dialects } from '../../src/dialects/registry.ts';
import { framesOf } from './amazon-stream.ts';
import type { HostRequest, Script } from './host.ts';

// Answers of scripted hosts, written by hand in the spacing that real hosts use.

export const messagesAnswer =
  '{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[{"type":"text","text":"Hello from messages"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":4}}';

export const chatAnswer =
  '{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-test","choices":[{"index":0,"message":{"role":"assistant","content":"Hello from chat"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}';

export const responsesAnswer =
  '{"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","model":"gpt-test","output":[{"type":"message","id":"m_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello from responses","annotations":[]}]}],"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}';

export const messagesEvents: readonly string[] = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-test","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Grüße 👋 "}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"東京"}}\n\n',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
];

const chunkHead =
  '"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt-test"';

export const chatEvents: readonly string[] = [
  `data: {${chunkHead},"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}\n\n`,
  `data: {${chunkHead},"choices":[{"index":0,"delta":{"content":"Grüße 👋 "},"finish_reason":null}]}\n\n`,
  `data: {${chunkHead},"choices":[{"index":0,"delta":{"content":"東京"},"finish_reason":null}]}\n\n`,
  `data: {${chunkHead},"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n`,
  `data: {${chunkHead},"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}\n\n`,
  'data: [DONE]\n\n',
];

export const responsesEvents: readonly string[] = [
  'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","model":"gpt-test","output":[]}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":1,"item_id":"m_1","output_index":0,"content_index":0,"delta":"Grüße 👋 東京"}\n\n',
  'event: response.completed\ndata: {"type":"response.completed","sequence_number":2,"response":{"id":"resp_1","status":"completed","model":"gpt-test","output":[],"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}}\n\n',
];

export const geminiAnswer =
  '{"candidates":[{"content":{"parts":[{"text":"Hello from gemini"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4,"totalTokenCount":7},"modelVersion":"gemini-test","responseId":"r1"}';

export const geminiEvents: readonly string[] = [
  'data: {"candidates": [{"content": {"parts": [{"text": "Grüße 👋 "}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 3,"totalTokenCount": 3},"modelVersion": "gemini-test","responseId": "r1"}\r\n\r\n',
  'data: {"candidates": [{"content": {"parts": [{"text": "東京"}],"role": "model"},"finishReason": "STOP","index": 0}],"usageMetadata": {"promptTokenCount": 3,"candidatesTokenCount": 4,"totalTokenCount": 7},"modelVersion": "gemini-test","responseId": "r1"}\r\n\r\n',
];

// biome-ignore format: a case a line
export const dialectCases = [
  { dialect: 'messages', path: '/v1/messages', model: 'claude-test', plain: messagesAnswer, events: messagesEvents },
  { dialect: 'chat', path: '/v1/chat/completions', model: 'gpt-test', plain: chatAnswer, events: chatEvents },
  { dialect: 'responses', path: '/v1/responses', model: 'gpt-test', plain: responsesAnswer, events: responsesEvents },
] as const;

const embeddingsAnswer =
  '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.125,-0.25]}],"model":"embed-test","usage":{"prompt_tokens":3,"total_tokens":3}}';

const geminiEmbeddingsAnswer =
  '{"embeddings":[{"values":[0.125,-0.25]}],"embedding":{"values":[0.125,-0.25]},"usageMetadata":{"promptTokenCount":3,"totalTokenCount":3}}';

/** The same with those whose path has the model in it, and those that have no streams. */
export const allCases = [
  ...dialectCases,
  { dialect: 'gemini', model: 'gemini-test', plain: geminiAnswer, events: geminiEvents },
  { dialect: 'embeddings', model: 'embed-test', plain: embeddingsAnswer, events: [] },
  { dialect: 'gemini_embeddings', model: 'embed-test', plain: geminiEmbeddingsAnswer, events: [] },
] as const satisfies readonly { readonly dialect: DialectName; readonly [member: string]: unknown }[];

/** Where a dialect's requests go. */
export function pathFor(dialect: DialectName, model: string, isStream = false): string {
  return targetOf(methodFor(dialects[dialect], isStream), model);
}

/** The smallest request of a dialect; in `extra` a Gemini request has its configuration. */
export function requestFor(dialect: DialectName, model: string, extra: object = {}): object {
  if (dialect === 'gemini') {
    const { stream: _, ...generationConfig } = { stream: false, ...extra };
    return { contents: [{ role: 'user', parts: [{ text: 'hello' }] }], generationConfig };
  }
  if (dialect === 'gemini_embeddings') return { content: { parts: [{ text: 'hello' }] } };
  if (dialect === 'embeddings') return { model, input: 'hello' };
  const turns = [{ role: 'user', content: 'hello' }];
  if (dialect === 'responses') return { model, input: 'hello', ...extra };
  return { model, ...(dialect === 'messages' ? { max_tokens: 64 } : {}), messages: turns, ...extra };
}

export function json(body: string | Buffer, status = 200, headers: Record<string, string> = {}): Script {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body);
  };
}

/** The content type of a stream in the form in which a host is asked for it, and the events in that form. */
export function streamedIn(target: string, pieces: readonly (string | Buffer)[]) {
  if (!isFramed(target)) return { type: 'text/event-stream', pieces };
  const events = Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))).toString();
  return { type: 'application/vnd.amazon.eventstream', pieces: [framesOf(events)] };
}

/** Whether a host is asked for frames, as Bedrock sends them. */
export const isFramed = (target: string) => target.endsWith('/invoke-with-response-stream');

/** Writes the pieces one after the other, then ends the answer; whole events in the form that is asked for. */
export function stream(events: readonly (string | Buffer)[]): Script {
  return async (response, { target }) => {
    const { type, pieces } = streamedIn(target, events);
    response.writeHead(200, { 'content-type': type });
    for (const piece of pieces) {
      if (response.destroyed) return;
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    }
    response.end();
  };
}

/** Writes the pieces and leaves the answer open. */
export function openStream(events: readonly string[]): Script {
  return (response, { target }) => {
    const { type, pieces } = streamedIn(target, events);
    response.writeHead(200, { 'content-type': type });
    for (const piece of pieces) response.write(piece);
  };
}

/** Answers each dialect in the form in which it is asked. */
export const speakAll: Script = (response, request) => {
  // A list of models, say.
  if (request.body.length === 0) return json('{"data":[]}')(response, request);
  const { dialect, isStream } = askedOf(request);
  const found = allCases.find((one) => one.dialect === dialect);
  if (found === undefined) return json('{"data":[]}')(response, request);
  if (found.events.length === 0)
    return json(vectorsFor(request.body, JSON.parse(found.plain)))(response, request);
  return isStream ? stream(found.events)(response, request) : json(found.plain)(response, request);
};

/** As many as are asked for, of the one in an answer. */
function vectorsFor(body: Buffer, answer: { data?: object[]; embeddings?: object[] }): string {
  const { input, requests } = JSON.parse(body.toString()) as { input?: unknown; requests?: unknown[] };
  const asked = requests ?? (Array.isArray(input) ? input : [input]);
  const times = (each: readonly object[] | undefined) =>
    each && asked.map((_, index) => ({ ...each[0], index }));
  return JSON.stringify({ ...answer, data: times(answer.data), embeddings: times(answer.embeddings) });
}

interface Asked {
  readonly dialect: DialectName;
  readonly model: string;
  readonly isStream: boolean;
}

/** What a request is for, at a host of whatever form. */
export function askedOf({ target, body }: Pick<HostRequest, 'target' | 'body'>): Asked {
  const [, publisher, inPath, method] =
    /(?:\/publishers\/(\w+))?\/models?\/([^:/]+)[:/]([\w-]+)/.exec(target) ?? [];
  if (inPath !== undefined && method !== undefined) {
    const isClaude = publisher === 'anthropic' || method.startsWith('invoke');
    const named = method.toLowerCase().includes('embed') ? 'gemini_embeddings' : 'gemini';
    return { dialect: isClaude ? 'messages' : named, model: inPath, isStream: /stream/i.test(method) };
  }
  const { model, stream } = JSON.parse(body.toString()) as { model: string; stream?: boolean };
  const [, name] = /\/v1\/(messages|chat|embeddings)/.exec(target) ?? [];
  return { dialect: (name as DialectName | undefined) ?? 'responses', model, isStream: stream === true };
}
