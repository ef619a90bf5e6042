import { parseFailure } from '../../../src/dialects/failure.ts';
import { dialects } from '../../../src/dialects/registry.ts';
import { parseChatRequest } from './chat-request.ts';
import { type Owner, object } from './fields.ts';
import { parseMessagesRequest } from './messages-request.ts';
import { Refusal } from './refusal.ts';
import { parseResponsesRequest } from './responses-request.ts';

const checkers: Readonly<
  Record<string, readonly ['messages' | 'chat' | 'responses', (body: Owner) => unknown]>
> = {
  '/v1/messages': ['messages', parseMessagesRequest],
  '/v1/chat/completions': ['chat', parseChatRequest],
  '/v1/responses': ['responses', parseResponsesRequest],
};

/** Where a request is wrong, and the body of the answer that a real host would send. */
export interface Refused {
  readonly place: string;
  readonly body: unknown;
}

/** Checks a request as strictly as the real hosts do: what a careless translation leaves behind is refused. */
export function checkRequest(path: string, value: unknown): Refused | undefined {
  const [name, check] = checkers[path.split('?', 1)[0] ?? ''] ?? [];
  if (name === undefined || check === undefined) throw new Error(`no dialect is spoken at ${path}`);
  try {
    check(object(value, []));
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const place = (error.path ?? []).reduce<string>(
      (text, step) =>
        typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`,
      '',
    );
    const message = `${place}: ${error.message}`;
    const failure = { ...parseFailure({ message }, 400), code: error.code, param: place };
    return { place, body: dialects[name].errorBody(failure) };
  }
}
