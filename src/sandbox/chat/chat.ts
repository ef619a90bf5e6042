import type { Answer } from '../ask.ts';
import { decideAnswer } from '../behaviour.ts';
import { countDeltas, createdSeconds, type Exchange, paceOf } from '../exchange.ts';
import { findTextModel } from '../models.ts';
import { dataFrame, type Frame, type Reply } from '../reply.ts';
import { slices } from '../tokens.ts';
import { type ChatRequest, parseChatRequest } from './chat-request.ts';

/** POST /v1/chat/completions */
export function answerChat(exchange: Exchange): Reply {
  const model = findTextModel(exchange.model);
  const request = parseChatRequest(exchange.body, model);
  const answers = Array.from({ length: request.choices }, (_, choice) => decideAnswer(request.ask, choice));
  const pace = paceOf(model);
  if (request.isStreaming) return { kind: 'stream', frames: chatFrames(exchange, request, answers), pace };
  const value = {
    id: exchange.makeId('chatcmpl-'),
    object: 'chat.completion',
    created: createdSeconds,
    model: exchange.model,
    choices: answers.map((answer, index) => toChoice(answer, index, exchange)),
    usage: toUsage(request, answers),
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  };
  // Choices are written in parallel, so the longest one determines the duration.
  return { kind: 'plain', value, pace, deltas: Math.max(...answers.map(countDeltas)) };
}

function toChoice(answer: Answer, index: number, { makeId }: Exchange) {
  const calls = answer.parts.flatMap((part) => (part.kind === 'call' ? [part] : []));
  const thoughts = textOf(answer, 'thinking');
  const words = textOf(answer, 'text');
  return {
    index,
    message: {
      role: 'assistant',
      content: words === '' && calls.length > 0 ? null : words,
      refusal: null,
      annotations: [],
      ...(thoughts === '' ? {} : { reasoning_content: thoughts }),
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map((call) => ({
              id: makeId('call_', index),
              ...toCall(call, call.inputText),
            })),
          }),
    },
    logprobs: null,
    finish_reason: toFinishReason(answer),
  };
}

function textOf({ parts }: Answer, kind: 'text' | 'thinking'): string {
  return parts.map((part) => (part.kind === kind ? part.text : '')).join('');
}

type Call = Extract<Answer['parts'][number], { kind: 'call' }>;

function toCall({ tool }: Call, input: string) {
  if (tool.input.kind === 'text') return { type: 'custom', custom: { name: tool.name, input } } as const;
  return { type: 'function', function: { name: tool.name, arguments: input } } as const;
}

function toFinishReason({ parts, end }: Answer): 'length' | 'tool_calls' | 'stop' {
  if (end.kind === 'length') return 'length';
  return parts.some((part) => part.kind === 'call') ? 'tool_calls' : 'stop';
}

function toUsage({ ask }: ChatRequest, answers: readonly Answer[]) {
  const completionTokens = sum(answers.map(({ outputTokens }) => outputTokens));
  return {
    prompt_tokens: ask.inputTokens,
    completion_tokens: completionTokens,
    total_tokens: ask.inputTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: sum(answers.map(({ thinkingTokens }) => thinkingTokens)),
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, value) => total + value, 0);
}

function* chatFrames(exchange: Exchange, request: ChatRequest, answers: readonly Answer[]): Generator<Frame> {
  const head = {
    id: exchange.makeId('chatcmpl-'),
    object: 'chat.completion.chunk',
    created: createdSeconds,
    model: exchange.model,
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  };
  const usageLater = request.includesUsage ? { usage: null } : {};
  const waiting = answers.map((answer, index) => ({ index, pieces: choicePieces(answer, index, exchange) }));
  // Choices are interleaved, as on a host that generates them in parallel.
  for (let open = waiting; open.length > 0; ) {
    const going: typeof waiting = [];
    for (const choice of open) {
      const next = choice.pieces.next();
      if (next.done === true) continue;
      going.push(choice);
      const { delta, finish, kind } = next.value;
      const chunk = { index: choice.index, delta, logprobs: null, finish_reason: finish ?? null };
      // One choice sets the pace, or n of them would be n times as slow.
      const isPaced = kind === 'delta' && choice === open[0];
      yield dataFrame({ ...head, choices: [chunk], ...usageLater }, isPaced ? 'delta' : 'other');
    }
    open = going;
  }
  if (request.includesUsage) yield dataFrame({ ...head, choices: [], usage: toUsage(request, answers) });
  yield { kind: 'other', text: 'data: [DONE]\n\n' };
}

interface Piece {
  readonly delta: Readonly<Record<string, unknown>>;
  readonly kind: Frame['kind'];
  readonly finish?: string;
}

function* choicePieces(answer: Answer, index: number, { makeId }: Exchange): Generator<Piece> {
  const isCall = answer.parts.some((part) => part.kind === 'call');
  yield { delta: { role: 'assistant', content: isCall ? null : '', refusal: null }, kind: 'other' };
  for (const part of answer.parts) {
    if (part.kind === 'call') {
      yield* callPieces(part, makeId('call_', index), answer.deltaLength);
      continue;
    }
    const name = part.kind === 'thinking' ? 'reasoning_content' : 'content';
    for (const text of slices(part.text, answer.deltaLength))
      yield { delta: { [name]: text }, kind: 'delta' };
  }
  yield { delta: {}, kind: 'other', finish: toFinishReason(answer) };
}

function* callPieces(call: Call, id: string, length: number): Generator<Piece> {
  yield { delta: { tool_calls: [{ index: 0, id, ...toCall(call, '') }] }, kind: 'other' };
  for (const input of slices(call.inputText, length)) {
    const piece =
      call.tool.input.kind === 'text' ? { custom: { input } } : { function: { arguments: input } };
    yield { delta: { tool_calls: [{ index: 0, ...piece }] }, kind: 'delta' };
  }
}
