// Conversations of a given size, the same in every run: prose, code with escapes, tool results, and in the
// mixed kind several languages.
const words =
  'the gateway should stream tokens from upstream provider without copying buffers more than once when policy rules allow model request and response handling async function return value const error throw new import export type interface'.split(
    ' ',
  );
const foreign = [
  'Übergröße und Straße. ',
  '日本語のテキストです。',
  'naïve café à la carte ',
  'обычный русский текст ',
  'emoji 🚀 and 👩‍💻 ',
  '한국어 문장입니다. ',
];

const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789';

function createRandom(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state % limit;
  };
}

/** A Messages request of about `size` bytes. */
export function conversation(size, { isMixed = false, seed = 42 } = {}) {
  const random = createRandom(seed);
  const prose = (length) => {
    let text = '';
    while (text.length < length) {
      text += words[random(words.length)] + (random(9) > 0 ? ' ' : '.\n');
      if (isMixed && random(3) === 0) text += foreign[random(foreign.length)];
    }
    return text;
  };
  const code = (length) => {
    let text = '```ts\n';
    while (text.length < length) {
      text += `  if (x${random(99)} === "${words[random(words.length)]}") {\n    return { id: ${random(1e6)}, path: "/a/b/${words[random(words.length)]}" };\n  }\n`;
    }
    return `${text}\n\`\`\``;
  };
  const messages = [];
  let length = 0;
  let call = '';
  for (let turn = 0; length < size; turn += 1) {
    const id = `toolu_01${Array.from({ length: 22 }, () => letters[random(letters.length)]).join('')}`;
    const kind = turn % 4;
    if (kind === 1) call = id;
    const text = kind === 0 ? prose(900) : kind === 1 ? prose(500) : kind === 2 ? code(1800) : prose(700);
    const message =
      kind === 0
        ? { role: 'user', content: [{ type: 'text', text }] }
        : kind === 1
          ? {
              role: 'assistant',
              content: [
                { type: 'text', text },
                {
                  type: 'tool_use',
                  id,
                  name: 'Read',
                  input: { file_path: `/src/${words[random(words.length)]}.ts`, limit: 200 },
                },
              ],
            }
          : kind === 2
            ? {
                role: 'user',
                content: [{ type: 'tool_result', tool_use_id: call, content: [{ type: 'text', text }] }],
              }
            : { role: 'assistant', content: text };
    messages.push(message);
    length += JSON.stringify(message).length;
  }
  return {
    model: 'sandbox-small',
    max_tokens: 1024,
    system: 'You are a helpful coding assistant.',
    messages,
  };
}
