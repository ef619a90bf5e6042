import type { FieldMapping } from '../../../src/dialects/field-mapping.ts';
import { dialects, type TextDialectName } from '../../../src/dialects/registry.ts';
import { mappingsBetween } from '../../../src/dialects/translate.ts';
import { directions } from './run-translation.ts';

const titles: Record<TextDialectName, string> = {
  messages: 'Messages (Anthropic)',
  chat: 'Chat Completions (OpenAI)',
  responses: 'Responses (OpenAI)',
};

const introduction = `# Translation between dialects

When a provider does not speak the client's dialect, the gateway translates: the request on its way out, the
answer, the stream and the errors on their way back. Where both speak the same one nothing here applies, and the
bytes pass as they are.

What happens to each field of a request is listed below, by direction:

| mapping | meaning |
|---|---|
| carried | same name and meaning at the provider |
| renamed | another name, form or place |
| dropped | left out; the names are in the exchange's record |
| refused | 400 \`request.unsupported\`, with the field in \`param\` |
| answered | the gateway acts on it itself |

Where a field has several rows, the first that applies counts. A top-level field that is not listed is dropped.
A field of the wrong form is 400 \`request.field\`, with its place in \`param\`. \`[]\` stands for any element.

These tables are made from the data that the gateway itself uses, and a test feeds every field through it.
After a change: \`npx vitest run test/dialects/translation/field-mappings.test.ts -u\`.
`;

const answers = `## Answers and streams

| | Messages | Chat Completions | Responses |
|---|---|---|---|
| finished | end_turn | stop | completed |
| stop sequence | stop_sequence where the provider names it, else end_turn | stop | completed |
| length, or the context is full | max_tokens | length | incomplete: max_output_tokens |
| tool calls | tool_use | tool_calls | completed |
| refused by a filter | refusal | content_filter | incomplete: content_filter |
| refused in words | refusal, the words as text | stop, with \`refusal\` | completed, with a refusal part |
| thinking | thinking block, unsigned | \`reasoning_content\` | reasoning item with a summary |
| input tokens | without the cached ones | with them | with them |
| failure in mid-stream | \`error\` event | \`data: {"error": …}\`, no \`[DONE]\` | \`response.failed\`, then \`error\` |

- The model's name in an answer is the one that the client asked for; ids are the gateway's own, except those of
  tool calls, which stay the same from turn to turn.
- A stream is translated event by event. Only one thing waits: in Messages one block is open at a time, so pieces
  of a second tool call that arrive before the first is complete are held until it is.
- A stream that ends without its last event is never given a finish.
- Arguments of a tool call that are no JSON object are kept under \`raw_arguments\` in Messages.
- Custom tools and namespaces of the Responses dialect are functions at other providers, and are themselves again
  in the answer.
- Embeddings: base64 and arrays of numbers are turned into each other where a host knows only numbers.
`;

/** The text of docs/translation.md. */
export function renderMappings(): string {
  const sections = directions.map(([client, provider]) =>
    section(
      `${titles[client]} to ${titles[provider]}`,
      mappingsBetween(dialects[client], dialects[provider])?.rows ?? [],
    ),
  );
  return [introduction, ...sections, answers].join('\n');
}

function section(title: string, rows: readonly FieldMapping[]): string {
  const lines = rows.map((row) => {
    const field = code(row.field);
    const to = row.kind === 'renamed' ? code(row.to ?? '') : '';
    return `| ${field} | ${row.when ?? ''} | ${row.kind} | ${to} | ${row.note ?? ''} |`;
  });
  return [
    `## ${title}\n`,
    '| field | when | mapping | becomes | note |',
    '|---|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

function code(text: string): string {
  return `\`${text}\``;
}
