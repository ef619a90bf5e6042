import type { FieldMapping } from '../../../src/dialects/field-mapping.ts';
import { type DialectName, dialects } from '../../../src/dialects/registry.ts';
import { mappingsBetween } from '../../../src/dialects/translate.ts';
import { allDirections as directions } from '../../kit/dialects.ts';

const titles: Record<DialectName, string> = {
  messages: 'Messages (Anthropic)',
  chat: 'Chat Completions (OpenAI)',
  responses: 'Responses (OpenAI)',
  gemini: 'Gemini (Google)',
  embeddings: 'Embeddings (OpenAI)',
  gemini_embeddings: 'Embeddings (Google)',
};

const introduction = `# Translation between dialects

When a provider does not speak the client's dialect, the gateway translates: the request on its way out; the
answer, the stream and the errors on their way back. If both speak the same dialect, nothing on this page applies, and
the bytes are passed on unchanged.

What happens to each field of a request is listed below, by direction:

| mapping | meaning |
|---|---|
| carried | same name and meaning at the provider |
| renamed | another name, form or position |
| dropped | left out; the names are in the exchange's record |
| refused | 400 \`request.unsupported\`, with the field in \`param\` |
| answered | handled by the gateway itself |

If a field has several rows, the first that applies is used. A top-level field that is not listed is dropped.
A malformed field is 400 \`request.field\`, with its path in \`param\`. \`[]\` stands for any element.

These tables are generated from the data that the gateway itself uses, and a test translates every field.
To regenerate them: \`npx vitest run test/dialects/translation/field-mappings.test.ts -u\`.
`;

const answers = `## Answers and streams

| | Messages | Chat Completions | Responses | Gemini |
|---|---|---|---|---|
| finished | end_turn | stop | completed | STOP |
| stop sequence | stop_sequence if the provider names it, otherwise end_turn | stop | completed | STOP |
| length limit, or the context is full | max_tokens | length | incomplete: max_output_tokens | MAX_TOKENS |
| tool calls | tool_use | tool_calls | completed | STOP |
| refused by a filter | refusal | content_filter | incomplete: content_filter | SAFETY |
| refused by the model, in words | refusal, with the words as text | stop, with \`refusal\` | completed, with a refusal part | SAFETY, with the words as text |
| thinking | thinking block, unsigned | \`reasoning_content\` | reasoning item with a summary | part with \`thought\` |
| input tokens | without cached tokens | including cached tokens | including cached tokens | including cached tokens |
| failure in mid-stream | \`error\` event | \`data: {"error": …}\`, no \`[DONE]\` | \`response.failed\`, then \`error\` | a bare \`{"error": …}\`, and the connection breaks |

- The model's name in an answer is the one that the client asked for; ids are the gateway's own, except those of
  tool calls, which stay the same from turn to turn.
- A stream is translated event by event. Only one thing is delayed: in Messages one block is open at a time, so parts
  of a second tool call that arrive before the first is complete are held back until it is.
- A stream that ends without its last event never gets a finish reason. Gemini's have no last event: one that ends after a
  finish reason is complete.
- Arguments of a tool call that are not a JSON object are kept under \`raw_arguments\` in Messages.
- Custom tools and namespaces of the Responses dialect become functions at other providers, and are restored
  in the answer.
- Embeddings: for hosts that support only arrays of numbers, base64 is converted. If Google reports no tokens, OpenAI's
  clients get an estimate.
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
