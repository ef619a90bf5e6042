import type { SseEvent } from '../../src/dialects/sse.ts';
import type { Fields } from './strict/shapes.ts';

/** A Chat answer in the pieces in which hosts send it: the role, texts of some characters, a call's name before its input. */
export function chatPieces({ usage, choices, ...head }: Fields): SseEvent[] {
  const [{ message, finish_reason, ...choice }] = choices as readonly [Fields & { message: Fields }];
  const { role, content, tool_calls, ...thoughts } = message;
  const chunk = (delta: Fields, finish: unknown = null, more: Fields = {}) => ({
    data: JSON.stringify({
      ...{ ...head, object: 'chat.completion.chunk' },
      choices: [{ index: 0, delta, finish_reason: finish, ...more }],
    }),
  });
  const ofMember = ([name, value]: readonly [string, unknown]) => {
    if (typeof value === 'string') return piecesOf(value).map((piece) => chunk({ [name]: piece }));
    return name === 'reasoning_details' && Array.isArray(value) ? [chunk({ [name]: value })] : [];
  };
  const ofCall = (call: Fields, index: number) => {
    const { function: called, ...rest } = call as { function: Fields };
    const begun = { index, ...rest, function: { ...called, arguments: '' } };
    const input = piecesOf(String(called.arguments)).map((piece) => ({
      index,
      function: { arguments: piece },
    }));
    return [begun, ...input].map((piece) => chunk({ tool_calls: [piece] }));
  };
  return [
    chunk({ role, content: '' }),
    ...Object.entries(thoughts).flatMap(ofMember),
    ...(Array.isArray(content) ? content.flatMap(piecesOfPart) : piecesOf(String(content ?? ''))).map(
      (piece) => chunk({ content: piece }),
    ),
    ...((tool_calls ?? []) as readonly Fields[]).flatMap(ofCall),
    chunk({}, finish_reason, choice),
    { data: JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage }) },
    { data: '[DONE]' },
  ];
}

/** As Mistral streams them: parts for what its model thinks, then texts. */
function piecesOfPart(part: {
  type: string;
  text?: string;
  thinking?: readonly { text: string }[];
}): unknown[] {
  if (part.type !== 'thinking') return [...piecesOf(part.text ?? '')];
  return (part.thinking ?? []).flatMap(({ text }) =>
    piecesOf(text).map((piece) => [{ type: 'thinking', thinking: [{ type: 'text', text: piece }] }]),
  );
}

function piecesOf(text: string): readonly string[] {
  return text.match(/.{1,7}/gsu) ?? [];
}
