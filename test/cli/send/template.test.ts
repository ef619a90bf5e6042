import { describe, expect, test } from 'vitest';
import { command, failure } from '../../kit/command.ts';

const translate = `---
model: sandbox-long
system: Speak {{ language }}.
max_tokens: 50
temperature: 0.2
variables: { language: English }
---
Translate: {{ input }}
`;

/** `send --dry-run` by this template. */
function fill(template: string, argv: readonly string[], stdin = '') {
  return command(['send', '-t', 't.md', '--dry-run', '-o', 'json', ...argv], {
    files: { 't.md': template },
    stdin,
  });
}

/** The messages that would be sent. */
async function messagesOf(...filling: Parameters<typeof fill>) {
  return (await fill(...filling)).json.body.messages;
}

describe('a template', () => {
  test('gives model, system prompt and settings, and its variables have defaults', async () => {
    const { json } = await fill(translate, ['hello']);

    expect(json.body).toMatchObject({
      model: 'sandbox-long',
      max_tokens: 50,
      temperature: 0.2,
      messages: [
        { role: 'system', content: 'Speak English.' },
        { role: 'user', content: 'Translate: hello' },
      ],
    });
  });

  test('what the command line says goes before what the template says', async () => {
    const argv = ['hello', '-m', 'sandbox-mini', '-s', 'Shout.', '--temperature', '1', '--var', 'language=x'];

    const { json } = await fill(translate, argv);

    expect(json.body).toMatchObject({ model: 'sandbox-mini', temperature: 1 });
    expect(json.body.messages[0].content).toBe('Shout.');
  });

  test.each([
    [
      'what it has no place for stands behind it',
      'Review:',
      ['shortly'],
      'a diff',
      'Review:\n\na diff\n\nshortly',
    ],
    ['what fills it is no template itself', '{{ input }}', ['{{ secret }}'], '', '{{ secret }}'],
  ])('%s', async (_name, template, argv, stdin, content) => {
    expect(await messagesOf(template, argv, stdin)).toEqual([{ role: 'user', content }]);
  });

  test("is the user's own by its name, whatever the working directory brings, and a file by its path", async () => {
    const files = {
      '.config/gateway/templates/shout.md': 'Own: {{ input }}',
      shout: 'Brought: {{ input }}',
      'shout.md': 'Brought: {{ input }}',
    };
    const filled = async (name: string) => {
      const { json } = await command(`send -t ${name} hi --dry-run -o json`, { files });
      return json.body.messages[0].content;
    };

    expect(await filled('shout')).toBe('Own: hi');
    expect(await filled('shout.md')).toBe('Own: hi');
    expect(await filled('./shout.md')).toBe('Brought: hi');
  });
});

describe('a mistake in a template has line and column', () => {
  test.each(
    // biome-ignore format: a case a line
    [
      ['a variable nobody set', 'a\nb {{ name }}', [], 't.md:2:6  undefined variable: name', '--var name=…'],
      ['no prompt where it wants one', 'x {{ input }}', [], 't.md:1:6  undefined variable: input', 'pipe one in'],
      ['a brace that is not closed', 'a\n\n{{ input', ['x'], 't.md:3:1  output', 'not closed'],
      ['a filter that is not there', '{{ input | shout }}', ['x'], 't.md:1:1  undefined filter: shout', ''],
      ['another file', '{% render "/etc/passwd" %}', ['x'], 't.md:1:1  no other file can be read', ''],
      ['work without an end', '{% for i in (1..999999999) %}.{% endfor %}', ['x'], 't.md:1:1  memory alloc', ''],
      ['a mistake below its settings', '---\nmodel: m\n---\nb {{ name }}', [], 't.md:4:6  undefined', 'b {{ name }}'],
      ['a mistake in its system text', '---\nsystem: "{{ x }}"\n---\nhi', [], 't.md:2:9  system: undefined', ''],
      ['an unknown setting', '---\nmodle: m\n---\nhi', [], 't.md:2:1  modle: unknown setting', ''],
      ['settings that are no YAML', '---\na: [\n---\nhi', [], 't.md:', ''],
      ['settings without an end', '---\nmodel: m\nhi', [], 't.md:1:1  the settings', ''],
    ],
  )('%s', async (_name, template, argv, place, more) => {
    const { exit, error } = await fill(template, ['-m', 'sandbox-mini', ...argv]);

    expect(exit).toBe(2);
    expect(error.message).toContain(place);
    expect(error.message).toContain(more);
  });

  test('a variable that the template does not have is named, and those it has', async () => {
    expect(await fill(translate, ['hi', '--var', 'langage=French'])).toEqual(
      failure(2, '--var langage: t.md has no such variable; it has input and language'),
    );
  });
});
