import { eventsOf } from '../../src/dialects/answer-forms.ts';
import { dialects } from '../../src/dialects/registry.ts';
import { chatPieces } from './chat-pieces.ts';
import { answerOf, type Says } from './five-turns.ts';
import { type ScriptedHost, startHost } from './host.ts';
import type { Fields } from './strict/shapes.ts';
import { nothingIssued, refusalOf, type Vendor, vendors } from './strict/vendors.ts';

/** The families of hosts that agents are tried at. */
export const families = {
  anthropic: vendors.anthropic[0],
  openai: vendors.openai.find(({ dialect }) => dialect === 'responses'),
  deepseek: vendors.deepseek[0],
  moonshot: vendors.moonshot[0],
  mistral: vendors.mistral[0],
  gemini: vendors.gemini[1],
  'gemini by chat': vendors.gemini[0],
  llamacpp: vendors.llamacpp[0],
} as Readonly<Record<string, Vendor>>;

const turns: readonly Says[] = ['thinking and call', 'call', 'thinking and call', 'text and call', 'text'];

/** What a client has sent back at the end of the loop that a vendor's host leads it through. */
export const whole = {
  results: turns.length - 1,
  thoughts: turns.filter((said) => said.includes('thinking')).length,
};

/** What such a host wants back of its thoughts: itself, or signatures of its calls. */
export function thoughtsBack({ reasoning, dialect }: Vendor): number {
  if (reasoning === 'none') return 0;
  return reasoning === 'signed' && signsCalls(dialect) ? whole.results : whole.thoughts;
}

/** Google signs calls, the others what the model thought. */
function signsCalls(dialect: Vendor['dialect']): boolean {
  return dialect === 'gemini' || dialect === 'chat';
}

export interface VendorHost extends ScriptedHost {
  /** What it refused, in the vendor's words. */
  readonly refused: readonly string[];
  /** The results, and the host's own thoughts or signatures, in the request with the most of them since this was last asked. */
  sentBack(): { readonly results: number; readonly thoughts: number };
}

interface Options {
  /** Whether a request is one of the loop: agents ask for titles and such on the side. */
  isOfLoop(sent: string): boolean;
  /** The answer with the client's own tool in place of the kit's. */
  fill?(answer: Fields, sent: string): Fields;
}

/** A host that refuses what its vendor refuses, and asks for a tool until it has a result of each call. */
export async function startVendorHost(
  vendor: Vendor,
  { isOfLoop, fill = (answer) => answer }: Options,
): Promise<VendorHost> {
  const issued = nothingIssued();
  const refused: string[] = [];
  let most = { results: 0, thoughts: 0 };
  const host = await startHost((response, { target, body }) => {
    const sent = body.toString();
    const isStream = vendor.dialect === 'gemini' ? target.includes('stream') : sent.includes('"stream":true');
    const refusal = refusalOf(vendor, JSON.parse(sent), issued);
    if (refusal !== undefined) {
      refused.push(refusal);
      response.writeHead(400, { 'content-type': 'application/json' });
      return response.end(JSON.stringify({ error: { message: refusal, type: 'invalid_request_error' } }));
    }
    const count =
      sent.split(/"role":"tool"|"type":"tool_result"|"functionResponse"|"function_call_output"/).length - 1;
    const isBySignature = vendor.reasoning === 'signed' && vendor.dialect !== 'messages';
    const signature = signsCalls(vendor.dialect) ? 'SIG+/' : 'ENC+/';
    const thoughts = sent.split(isBySignature ? signature : 'I think of turn').length - 1;
    if (count >= most.results) most = { results: count, thoughts };
    const says = isOfLoop(sent) ? (turns[count] ?? 'text') : 'text';
    const answer = fill(answerOf(vendor, { says, ids: 'fresh' }, count, issued), sent);
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    if (!isStream) return response.end(JSON.stringify(answer));
    const events =
      vendor.dialect === 'chat' ? chatPieces(answer) : eventsOf(dialects[vendor.dialect], answer);
    for (const { name, data } of events ?? [])
      response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`);
    return response.end();
  });
  return {
    ...host,
    refused,
    sentBack: () => {
      const sentBack = most;
      most = { results: 0, thoughts: 0 };
      return sentBack;
    },
  };
}

/** The settings of a provider at such a host. */
export function providerAt(name: string, { dialect }: Vendor, url: string): string {
  const family = { messages: 'anthropic', gemini: 'gemini', chat: 'openai', responses: 'openai' }[dialect];
  const base = family === 'openai' ? `${url}/v1` : url;
  const host = name.startsWith('gemini') ? 'gemini' : name;
  const only = dialect === 'chat' ? ', endpoints: [chat]' : '';
  return `{ dialect: ${family}, host: ${host}, base_url: "${base}", api_key: "\${PROVIDER_KEY}"${only} }`;
}

/** The id of a family, as its provider and the end of its model's name. */
export function idOf(family: string): string {
  return family.replaceAll(' ', '-');
}
