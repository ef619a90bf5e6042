import type { ServerResponse } from 'node:http';
import { type HostRequest, type Script, type ScriptedHost, startHost } from './host.ts';

/** A service that is asked about texts: it finds names, and keeps what it was asked. */
export interface Checker extends Pick<ScriptedHost, 'url' | 'script' | 'close'> {
  /** The texts of each call. */
  readonly calls: readonly (readonly string[])[];
}

const kinds: Readonly<Record<string, string>> = { 'Erika Muster': 'person', Nordlicht: 'company' };

/** Where the names are in a text, in UTF-16 units or in characters. */
function namesIn(text: string, length: (text: string) => number) {
  return Object.entries(kinds).flatMap(([name, kind]) =>
    [...text.matchAll(new RegExp(name, 'g'))].map(({ index }) => {
      const start = length(text.slice(0, index));
      return { start, end: start + length(name), kind };
    }),
  );
}

export function textsOf({ body }: HostRequest): readonly string[] {
  const { texts, text } = JSON.parse(body.toString());
  return text ?? texts.map((each: { readonly text: string }) => each.text);
}

export function answerJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** As docs/checks.md has it. */
export const findNames: Script = (response, request) =>
  answerJson(response, { findings: textsOf(request).map((text) => namesIn(text, (part) => part.length)) });

/** As Presidio's analyzer does, which counts characters. */
export const presidio: Script = (response, request) =>
  answerJson(
    response,
    textsOf(request).map((text) =>
      namesIn(text, (part) => [...part].length).map(({ start, end, kind }) => ({
        ...{ start, end, score: 0.85, analysis_explanation: null },
        entity_type: kind === 'person' ? 'PERSON' : 'ORGANIZATION',
      })),
    ),
  );

export async function startChecker(first: Script = findNames): Promise<Checker> {
  const host = await startHost(first);
  return {
    ...host,
    get calls() {
      return host.requests.map(textsOf);
    },
  };
}
