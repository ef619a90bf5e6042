import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { command, emptyDirectory } from '../../kit/command.ts';

const translate = `---
model: sandbox-long
system: Speak {{ language }}.
max_tokens: 50
temperature: 0.2
variables: { language: English }
---
Translate: {{ input }}
`;

/** What would be sent, by --dry-run. */
async function fill(template: string, argv: readonly string[], stdin = '') {
  const cwd = emptyDirectory();
  writeFileSync(join(cwd, 't.md'), template);
  const { exit, stdout, stderr } = await command(['send', '-t', 't.md', '--dry-run', '-o', 'json', ...argv], {
    cwd,
    stdin,
  });
  return { exit, body: exit === 0 ? JSON.parse(stdout).body : undefined, stderr };
}

describe('a template', () => {
  test('gives model, system prompt and settings, and its variables have defaults', async () => {
    const { body } = await fill(translate, ['hello']);

    expect(body).toMatchObject({
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

    const { body } = await fill(translate, argv);

    expect(body).toMatchObject({ model: 'sandbox-mini', temperature: 1 });
    expect(body.messages[0].content).toBe('Shout.');
  });

  test('what it has no place for stands behind it', async () => {
    const { body } = await fill('Review this:', ['shortly'], 'a diff');

    expect(body.messages).toEqual([{ role: 'user', content: 'Review this:\n\na diff\n\nshortly' }]);
  });

  test('has conditions and filters', async () => {
    const text = '{% if tone %}In a {{ tone | downcase }} tone: {% endif %}{{ input }}';

    const plain = await fill(text, ['x']);
    const toned = await fill(text, ['x', '--var', 'tone=WARM']);

    expect(plain.body.messages[0].content).toBe('x');
    expect(toned.body.messages[0].content).toBe('In a warm tone: x');
  });

  test('what fills it is no template itself', async () => {
    const { body } = await fill('{{ input }}', ['{{ secret }}']);

    expect(body.messages[0].content).toBe('{{ secret }}');
  });

  test("is found by its name in the user's directory", async () => {
    const home = emptyDirectory();
    mkdirSync(join(home, '.config/gateway/templates'), { recursive: true });
    writeFileSync(join(home, '.config/gateway/templates/shout.md'), 'Shout: {{ input }}');

    const { stdout } = await command(['send', '-t', 'shout', 'hi', '--dry-run', '-o', 'json'], { cwd: home });

    expect(JSON.parse(stdout).body.messages[0].content).toBe('Shout: hi');
  });

  test("is the user's own by its name, whatever the working directory brings, and a file by its path", async () => {
    const cwd = emptyDirectory();
    mkdirSync(join(cwd, '.config/gateway/templates'), { recursive: true });
    writeFileSync(join(cwd, '.config/gateway/templates/shout.md'), 'Own: {{ input }}');
    for (const name of ['shout', 'shout.md']) writeFileSync(join(cwd, name), 'Brought: {{ input }}');
    const filled = async (name: string) => {
      const { stdout } = await command(['send', '-t', name, 'hi', '--dry-run', '-o', 'json'], { cwd });
      return JSON.parse(stdout).body.messages[0].content;
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
      ['a tag that is not closed', '{% if input %}x', ['x'], 't.md:1:1  tag {% if input %} not closed', ''],
      ['another file', '{% render "/etc/passwd" %}', ['x'], 't.md:1:1  no other file can be read', ''],
      ['work without an end', '{% for i in (1..999999999) %}.{% endfor %}', ['x'], 't.md:1:1  memory alloc', ''],
      ['a mistake below its settings', '---\nmodel: m\n---\nb {{ name }}', [], 't.md:4:6  undefined', 'b {{ name }}'],
      ['a mistake in its system text', '---\nsystem: "{{ x }}"\n---\nhi', [], 't.md:2:9  system: undefined', ''],
      ['an unknown setting', '---\nmodle: m\n---\nhi', [], 't.md:2:1  modle: unknown setting', ''],
      ['a setting of another kind', '---\nmax_tokens: many\n---\nhi', [], 't.md:2:13  max_tokens: expected', ''],
      ['settings that are no YAML', '---\na: [\n---\nhi', [], 't.md:', ''],
      ['settings without an end', '---\nmodel: m\nhi', [], 't.md:1:1  the settings', ''],
    ],
  )('%s', async (_name, template, argv, place, more) => {
    const { exit, stderr } = await fill(template, ['-m', 'sandbox-mini', ...argv]);

    expect(exit).toBe(2);
    const { message } = JSON.parse(stderr).error;
    expect(message).toContain(place);
    expect(message).toContain(more);
  });

  test('a variable that the template does not have is named, and those it has', async () => {
    const { exit, stderr } = await fill(translate, ['hi', '--var', 'langage=French']);

    expect(exit).toBe(2);
    expect(stderr).toContain('--var langage: t.md has no such variable; it has input and language');
  });
});
