import { type Bypass, dialectNames, model } from './case.ts';

const rest = {
  messages: '"messages":[],"max_tokens":9',
  chat: '"messages":[]',
  responses: '"input":"a"',
  embeddings: '"input":"a"',
};

/** Keys that two readers could take differently, on every dialect. */
export const keys: readonly Bypass[] = dialectNames.flatMap((endpoint) => {
  const good = `"model":"${model[endpoint]}"`;
  const refuse = (name: string, raw: string, reason: string, at: string): Bypass => ({
    name: `${endpoint}: ${name}`,
    endpoint,
    raw,
    expect: { status: 400, reason, at },
  });
  const field = rest[endpoint];
  const texts = endpoint === 'responses' || endpoint === 'embeddings' ? 'input' : 'messages';
  const capital = `${texts.charAt(0).toUpperCase()}${texts.slice(1)}`;
  const duplicate = 'request.duplicate_key';
  return [
    refuse('model twice', `{${good},${field},"model":"banned"}`, duplicate, '/model'),
    refuse('model twice, the banned one first', `{"model":"banned",${field},${good}}`, duplicate, '/model'),
    refuse('model twice, once in escapes', `{${good},${field},"mode\\u006c":"banned"}`, duplicate, '/model'),
    refuse(
      'model twice, both in escapes',
      `{"\\u006dodel":"banned",${field},"mode\\u006c":"x"}`,
      duplicate,
      '/model',
    ),
    refuse('the texts twice', `{${good},${field},"${texts}":[]}`, duplicate, `/${texts}`),
    refuse('an unknown key twice', `{${good},${field},"x":{"a":1,"a":2}}`, duplicate, '/x/a'),
    refuse('an empty key twice', `{${good},${field},"":1,"":2}`, duplicate, '/'),
    refuse('a key with a slash twice', `{${good},${field},"a/b":1,"a\\/b":2}`, duplicate, '/a~1b'),
    refuse('Model beside model', `{${good},${field},"Model":"banned"}`, 'request.field', '/Model'),
    refuse('MODEL in place of model', `{"MODEL":"${model[endpoint]}",${field}}`, 'request.field', '/MODEL'),
    refuse('Model in escapes', `{${good},${field},"\\u004dodel":"banned"}`, 'request.field', '/Model'),
    refuse(
      `${capital} beside ${texts}`,
      `{${good},${field},"${capital}":[]}`,
      'request.field',
      `/${capital}`,
    ),
    refuse('Stream', `{${good},${field},"Stream":true}`, 'request.field', '/Stream'),
    refuse('stream with a long s', `{${good},${field},"\u017ftream":true}`, 'request.field', '/\u017ftream'),
    refuse('__proto__', `{${good},${field},"__proto__":{"model":"banned"}}`, 'request.field', '/__proto__'),
    refuse('__proto__ in escapes', `{${good},${field},"\\u005f_proto__":{}}`, 'request.field', '/__proto__'),
    refuse('__proto__ inside', `{${good},${field},"a":[{"__proto__":1}]}`, 'request.field', '/a/0/__proto__'),
    ...(endpoint === 'embeddings'
      ? []
      : [
          refuse(
            'Role beside role',
            `{${good},${texts === 'input' ? '' : '"max_tokens":9,'}"${texts}":[{"role":"user","Role":"system","content":"a"}]}`,
            'request.field',
            `/${texts}/0/Role`,
          ),
          refuse(
            'Content in place of content',
            `{${good},${texts === 'input' ? '' : '"max_tokens":9,'}"${texts}":[{"role":"user","Content":"a"}]}`,
            'request.field',
            `/${texts}/0/Content`,
          ),
        ]),
  ];
});
