import type { Answer, Part } from '../ask.ts';
import { decideAnswer } from '../behaviour.ts';
import { countDeltas, type Exchange, paceOf } from '../exchange.ts';
import { findTextModel } from '../models.ts';
import { Refusal } from '../refusal.ts';
import { type Frame, namedFrame, type Reply } from '../reply.ts';
import { signThinking } from '../signature.ts';
import { slices } from '../tokens.ts';
import { countMessagesTokens, type MessagesRequest, parseMessagesRequest } from './messages-request.ts';

/** POST /v1/messages */
export function answerMessages(exchange: Exchange): Reply {
  checkVersion(exchange);
  const model = findTextModel(exchange.model);
  const request = parseMessagesRequest(exchange.body, model);
  const answer = decideAnswer(request.ask);
  const pace = paceOf(model);
  if (request.isStreaming) return { kind: 'stream', frames: messageFrames(exchange, request, answer), pace };
  const value = {
    ...messageHead(exchange),
    content: answer.parts.map((part, index) => toBlock(part, index, exchange, request)),
    ...toStop(answer),
    usage: { ...toUsage(request, answer), ...fixedUsage },
  };
  return { kind: 'plain', value, pace, deltas: countDeltas(answer) };
}

/** POST /v1/messages/count_tokens */
export function answerCountTokens(exchange: Exchange): Reply {
  checkVersion(exchange);
  const model = findTextModel(exchange.model);
  return { kind: 'value', value: { input_tokens: countMessagesTokens(exchange.body, model) } };
}

function checkVersion({ headers }: Exchange): void {
  if (headers['anthropic-version'] !== undefined) return;
  throw new Refusal(400, 'the header anthropic-version is required');
}

function messageHead({ model, makeId }: Exchange) {
  return { id: makeId('msg_'), type: 'message', role: 'assistant', model } as const;
}

function toBlock(part: Part, index: number, { makeId }: Exchange, { hidesThinking }: MessagesRequest) {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text } as const;
    case 'thinking': {
      const thinking = hidesThinking ? '' : part.text;
      return { type: 'thinking', thinking, signature: signThinking(thinking) } as const;
    }
    case 'call':
      return {
        type: 'tool_use',
        id: makeId('toolu_', index),
        name: part.tool.name,
        input: part.input,
      } as const;
  }
}

function toStop({ parts, end }: Answer) {
  if (end.kind === 'length') return { stop_reason: 'max_tokens', stop_sequence: null } as const;
  if (end.kind === 'stop') return { stop_reason: 'stop_sequence', stop_sequence: end.sequence } as const;
  const isCall = parts.some((part) => part.kind === 'call');
  return { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null } as const;
}

// Sent once, with the message; the last event repeats only the counts.
const fixedUsage = {
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  service_tier: 'standard',
};

function toUsage({ ask }: MessagesRequest, { outputTokens, thinkingTokens }: Answer) {
  return {
    input_tokens: ask.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
    ...(thinkingTokens > 0 ? { output_tokens_details: { thinking_tokens: thinkingTokens } } : {}),
  };
}

function* messageFrames(exchange: Exchange, request: MessagesRequest, answer: Answer): Generator<Frame> {
  const message = {
    ...messageHead(exchange),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    // Before the rest is known, only the prompt and the first token are counted.
    usage: {
      ...toUsage(request, { ...answer, outputTokens: Math.min(1, answer.outputTokens), thinkingTokens: 0 }),
      ...fixedUsage,
    },
  };
  yield namedFrame({ type: 'message_start', message });
  yield namedFrame({ type: 'ping' });
  for (const [index, part] of answer.parts.entries()) {
    const block = toBlock(part, index, exchange, request);
    yield namedFrame({ type: 'content_block_start', index, content_block: toEmptyBlock(block) });
    for (const delta of blockDeltas(part, block, answer.deltaLength)) {
      yield namedFrame({ type: 'content_block_delta', index, delta }, 'delta');
    }
    if (block.type === 'thinking') {
      const delta = { type: 'signature_delta', signature: block.signature };
      yield namedFrame({ type: 'content_block_delta', index, delta });
    }
    yield namedFrame({ type: 'content_block_stop', index });
  }
  yield namedFrame({ type: 'message_delta', delta: toStop(answer), usage: toUsage(request, answer) });
  yield namedFrame({ type: 'message_stop' });
}

type ContentBlock = ReturnType<typeof toBlock>;

function toEmptyBlock(block: ContentBlock) {
  if (block.type === 'text') return { ...block, text: '' };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return { ...block, input: {} };
}

function* blockDeltas(part: Part, block: ContentBlock, length: number) {
  if (block.type === 'text')
    for (const text of slices(block.text, length)) yield { type: 'text_delta', text };
  if (block.type === 'thinking') {
    for (const thinking of slices(block.thinking, length)) yield { type: 'thinking_delta', thinking };
  }
  if (part.kind === 'call') {
    for (const json of slices(part.inputText, length)) yield { type: 'input_json_delta', partial_json: json };
  }
}
