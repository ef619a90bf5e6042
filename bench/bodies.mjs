// The request bodies, in the chat dialect, because every contender takes it. The same in every run.

/**
 * Stands in every text of a body and is another word in every request: nothing that a contender remembers of
 * one request may help it with the next.
 */
const mark = '@@MARK@@';

const words =
  'the gateway should stream tokens from a provider without copying more than once when rules allow the model and its answer to pass through an async function that returns a value or throws an error'.split(
    ' ',
  );

export const bodies = {
  small: () =>
    chat([user('Explain in two sentences what a reverse proxy does and why it reuses connections.')]),
  '8 KB': () => chat(conversation(7_900, mark)),
  '60 KB': () => chat(conversation(60_000, mark)),
  '360 KB': () => chat(conversation(360_000, mark)),
  '2 MB': () => chat(conversation(2_000_000, mark)),
};

/** A body that the small and the large policy refuse. */
export function forbiddenBody() {
  return chat([user('Tell me about project aurora.')]);
}

/** The provider for streams does what the text asks for. */
export function streamBody({ events, gapMs }) {
  return JSON.stringify({
    ...request([user(`Give ${events} events, one every ${gapMs} ms.`)]),
    stream: true,
  });
}

function chat(messages) {
  return JSON.stringify(request(messages));
}

function request(messages) {
  return { model: 'gpt-4o-mini', max_tokens: 256, temperature: 0.2, messages };
}

function user(content) {
  return { role: 'user', content };
}

function conversation(size, start) {
  const random = createRandom(42);
  const messages = [];
  for (let length = 0; length < size - 300; length += messages.at(-1).content.length + 40) {
    const isAnswer = messages.length % 2 === 1;
    const room = Math.min(isAnswer ? 1_800 : 1_200, size - length - 100);
    const text = isAnswer ? code(random, room) : prose(random, room);
    messages.push({ role: isAnswer ? 'assistant' : 'user', content: `${start} ${text}` });
  }
  return messages;
}

function prose(random, length) {
  let text = '';
  while (text.length < length) text += words[random(words.length)] + (random(9) > 0 ? ' ' : '.\n');
  return text;
}

/** Code has what prose lacks: escapes, digits and punctuation. */
function code(random, length) {
  let text = '```ts\n';
  while (text.length < length) {
    text += `  if (x${random(99)} === "${words[random(words.length)]}") {\n    return { id: ${random(1e6)} };\n  }\n`;
  }
  return `${text}\`\`\``;
}

function createRandom(seed) {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state % limit;
  };
}
