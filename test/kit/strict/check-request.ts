import { parseFailure } from '../../../src/dialects/failure.ts';
import { dialects } from '../../../src/dialects/registry.ts';
import { geminiRequest } from './gemini.ts';
import { messagesRequest } from './messages.ts';
import { chatRequest, responsesRequest } from './openai.ts';
import { placeOf } from './shapes.ts';

const forms = {
  '/v1/messages': ['messages', messagesRequest],
  '/v1/chat/completions': ['chat', chatRequest],
  '/v1/responses': ['responses', responsesRequest],
} as const;

function formAt(path: string) {
  if (/^\/v1(?:beta)?\/models\/[^/]+:(?:streamG|g)enerateContent$/.test(path))
    return ['gemini', geminiRequest] as const;
  const found = forms[path as keyof typeof forms];
  if (found === undefined) throw new Error(`no dialect is spoken at ${path}`);
  return found;
}

/** Where a request is wrong, and the body of the answer that a real host would send. */
export interface Refused {
  readonly place: string;
  readonly body: unknown;
}

/** Checks a request as strictly as the real hosts do: what a careless translation leaves behind is refused. */
export function checkRequest(path: string, value: unknown): Refused | undefined {
  const [name, form] = formAt(path.split('?', 1)[0] ?? '');
  const [issue] = form.safeParse(value).error?.issues ?? [];
  if (issue === undefined) return undefined;
  const place = placeOf(issue)
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .slice(1);
  const failure = { ...parseFailure({ message: `${place}: ${issue.message}` }, 400), param: place };
  return { place, body: dialects[name].errorBody(failure) };
}
