import { expect, test } from 'vitest';
import { pathFor } from '../../kit/answers.ts';
import { post, secrets } from '../../kit/gateway.ts';
import { maskedGateway } from './masked-gateway.ts';
import { bodies } from './saying.ts';

const { host, gateway } = await maskedGateway();

// Gemini signs a part beside its text, and sends a call's arguments as an object: what is masked in a signature stays as
// it came, so that it is valid in the next turn, and everything else comes back.

interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: object;
}

const value = 'ann@example.com and «quote " and \\ backslash,\n🌿»';

/** Parts of an answer that hold what the model heard. */
const partsOf = (heard: string, signature: string): readonly Part[] => [
  { text: `thinking of ${heard}`, thought: true, thoughtSignature: signature },
  { text: `saying ${heard}`, thoughtSignature: signature },
  {
    functionCall: {
      id: 'call_1',
      name: 'run',
      args: { command: `mail ${heard}`, list: [heard], json: JSON.stringify({ deep: heard }), id: heard },
    },
    thoughtSignature: signature,
  },
];

async function ask(key: string, isStream: boolean, body: object): Promise<readonly Part[]> {
  const response = await post(gateway, pathFor('gemini', 'at-gemini', isStream), body, {
    headers: { 'x-goog-api-key': key },
  });
  const came = await response.text();
  const events = isStream ? [...came.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data) : [came];
  return events.flatMap(
    (event) =>
      (JSON.parse(event) as { candidates: { content: { parts: Part[] } }[] }).candidates[0]?.content.parts ??
      [],
  );
}

/** A host that answers with the parts and a signature in which the first placeholder of a request is, if there is one. */
function answering(isStream: boolean): void {
  host.script((response, { body }) => {
    const { contents } = JSON.parse(body.toString()) as { contents: { parts: Part[] }[] };
    const heard = contents[0]?.parts[0]?.text ?? '';
    const parts = partsOf(heard, `sig${/EMAIL_[A-Z]{13}/.exec(heard)?.[0] ?? ''}`);
    const said = (some: readonly Part[], isLast: boolean) =>
      JSON.stringify({
        candidates: [
          { content: { role: 'model', parts: some }, ...(isLast && { finishReason: 'STOP' }), index: 0 },
        ],
        modelVersion: 'm',
      });
    const events = parts.map((part, at) => `data: ${said([part], at === parts.length - 1)}\r\n\r\n`);
    response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' });
    response.end(isStream ? events.join('') : said(parts, true));
  });
}

test.each([false, true])(
  'only signatures stay as they came, for the next turn too: streamed %s',
  async (isStream) => {
    answering(isStream);
    const first = bodies.gemini(value) as { contents: object[] };

    const parts = await ask(secrets.PROJECT_KEY, isStream, first);
    const sentFirst = host.requests.at(-1)?.body.toString() ?? '';
    const answered = { functionResponse: { id: 'call_1', name: 'run', response: { output: value } } };
    const turns = [...first.contents, { role: 'model', parts }, { role: 'user', parts: [answered] }];
    await ask(secrets.PROJECT_KEY, isStream, { ...first, contents: turns });
    const sentSecond = host.requests.at(-1)?.body.toString() ?? '';

    expect(sentFirst + sentSecond).not.toMatch(/ann@|quote/);
    const [placeholder = 'none'] = /EMAIL_[A-Z]{13}/.exec(sentFirst) ?? [];
    expect(parts).toEqual(partsOf(value, `sig${placeholder}`));
    // The next turn begins with the same bytes, and shows the model of its own answer what it said.
    const beginning = sentFirst.slice(0, sentFirst.indexOf(']'));
    expect(sentSecond.slice(0, beginning.length)).toBe(beginning);
    const heard =
      (JSON.parse(sentFirst) as { contents: [{ parts: [Part] }] }).contents[0].parts[0].text ?? '';
    const { contents } = JSON.parse(sentSecond) as { contents: { parts: Part[] }[] };
    expect(contents[1]?.parts).toEqual(partsOf(heard, `sig${placeholder}`));
  },
);
