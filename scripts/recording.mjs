#!/usr/bin/env node
// Makes docs/images/recording-dark.svg and -light.svg: Claude Code started by `gateway run`, beside the live page.
//   npm run build && node scripts/recording.mjs CLAUDE_FOLDER [FOLDER]
// CLAUDE_FOLDER has the program `claude`: npm install --prefix /tmp/claude @anthropic-ai/claude-code gives
// /tmp/claude/node_modules/.bin. Gateway, agent and page are the real ones; the model's answer is scripted, since
// nothing here calls a provider. Needs Chromium.
import { execFileSync, spawn as spawnProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { chromium } from 'playwright-core';
import { toSmallPng } from './small-png.mjs';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'bin/gateway.js');
const [claudeFolder, images = join(root, 'docs', 'images')] = process.argv.slice(2);
if (claudeFolder === undefined) throw new Error('usage: recording.mjs CLAUDE_FOLDER [FOLDER]');

const columns = 66;
const rows = 27;
const cell = { width: 7.8, height: 18 };
const bar = 30;
const pad = 12;
const terminalWidth = Math.ceil(columns * cell.width) + 2 * pad;
const height = bar + rows * cell.height + 2 * pad;
const pageSize = { width: 480, height };
const prompt = 'Mail the new API_KEY=q8Zr2LxV7nT4wKc9YbHd1mPs to jo_miller@example.org please.';
const themes = {
  dark: { back: '#16181d', bar: '#1d2026', text: '#e4e6eb', quiet: '#9aa2b1', line: '#2c3039' },
  light: { back: '#ffffff', bar: '#f6f7f9', text: '#1a1d23', quiet: '#5a6170', line: '#dfe2e8' },
};

const browser = await chromium.launch({
  executablePath: ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)),
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  mkdirSync(images, { recursive: true });
  for (const theme of Object.keys(themes)) {
    const { screens, pages } = await record(theme);
    writeFileSync(join(images, `recording-${theme}.svg`), toSvg(theme, { screens, pages }));
  }
} finally {
  await browser.close();
}

/** What the terminal and the page showed, and when (in milliseconds of the recording). */
async function record(theme) {
  const host = await startModel();
  const home = mkdtempSync(join(tmpdir(), 'gateway-recording-'));
  const shop = join(home, 'shop');
  mkdirSync(shop);
  writeFileSync(join(home, '.claude.json'), JSON.stringify(seenBefore(theme, shop)));
  const env = {
    PATH: `${claudeFolder}:${process.env.PATH}`,
    HOME: home,
    ANTHROPIC_API_KEY: 'sk-ant-api03-sample-key-of-this-recording-0123456789',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    LANG: 'C.UTF-8',
    COLORTERM: 'truecolor',
    TZ: 'UTC',
  };
  // As a user does it: `init` finds the key and writes the file. Only the provider's address is another one.
  const gateway = (...argv) =>
    execFileSync(process.execPath, [bin, ...argv], { cwd: shop, env, stdio: 'pipe' });
  const [path] = gateway('init', '--mask', 'secrets,email', '--no-input')
    .toString()
    .trim()
    .split('\n')
    .slice(-1);
  const file = join(shop, 'gateway.yaml');
  const written = readFileSync(file, 'utf8');
  const pointed = written.replace(
    /(dialect: anthropic\n)/,
    `$1    base_url: http://127.0.0.1:${host.port}\n`,
  );
  if (pointed === written) throw new Error(`gateway init wrote another form of provider:\n${written}`);
  writeFileSync(file, pointed);
  const serve = spawnProcess(process.execPath, [bin, 'serve', '-c', file, '-p', '0', '--plants-port', '0'], {
    cwd: shop,
    env,
  });
  const ended = new Promise((resolve) => serve.once('exit', resolve));
  try {
    await until(() => existsSync(join(home, '.local/state/gateway/running.json')), 'the gateway runs');
    const page = await browser.newPage({ viewport: pageSize, colorScheme: theme });
    await page.goto(gateway('open', '--no-browser').toString().trim());
    await page.getByRole('button', { name: 'Keep bodies 10 min' }).click();
    await page.getByRole('button', { name: /^Bodies kept/ }).waitFor();
    return await act(page, { shop, env, path: path.replace(home, '~') });
  } finally {
    serve.kill('SIGTERM');
    host.server.close();
    host.server.closeAllConnections();
    await ended;
    rmSync(home, { recursive: true, force: true });
  }
}

async function act(page, { shop, env, path }) {
  const screens = [];
  const pages = [];
  let clockMs = 0; // of the recording, which leaves out most waiting
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const shoot = async (waitMs) => {
    screens.push({ atMs: clockMs, lines: linesOf(terminal) });
    clockMs += waitMs;
  };
  const look = async () => pages.push({ atMs: clockMs, png: toSmallPng(await page.screenshot()) });
  const text = () => screenText(terminal);

  const type = async (command) => {
    await write(terminal, '$ ');
    for (const letters of command.match(/.{1,2}/g)) {
      await write(terminal, letters);
      await shoot(90);
    }
    await write(terminal, '\r\n');
    await shoot(300);
  };
  await look();
  await type('gateway init --mask secrets,email');
  await write(terminal, `${path}\r\n`);
  await shoot(700);
  await type('gateway run claude');
  const child = spawn(process.execPath, [bin, 'run', 'claude'], {
    name: 'xterm-256color',
    cols: columns,
    rows,
    cwd: shop,
    env,
  });
  child.onData((data) => terminal.write(data));
  terminal.onData((answer) => child.write(answer));
  try {
    await until(() => text().includes('for shortcuts'), 'the agent is ready', text);
    await settle();
    await shoot(900);
    for (let at = 0; at < prompt.length; at += 3) {
      child.write(prompt.slice(at, at + 3));
      await pause(60);
      await shoot(110);
    }
    await until(
      () => text().replace(/\s+/g, '').includes(prompt.replace(/\s+/g, '')),
      'the prompt is typed',
      text,
    );
    await shoot(500);
    child.write('\r');
    await pause(500);
    await shoot(700);
    await until(() => text().includes('Sent it.'), 'the answer is shown', text);
    await settle();
    await shoot(600);
    const row = page.locator('.row.mask').first();
    await row.waitFor();
    await pause(400);
    await look();
    await shoot(2600);
    await row.click();
    await page.getByRole('tab', { name: 'Request' }).click();
    const sent = page.getByRole('region', { name: 'As sent: masked' });
    await sent.locator('mark').last().scrollIntoViewIfNeeded();
    await sent
      .locator('mark')
      .last()
      .evaluate((mark) => mark.scrollIntoView({ block: 'center' }));
    await pause(400);
    await look();
    await shoot(6000);
  } finally {
    child.kill('SIGKILL');
  }
  return { screens, pages, endMs: clockMs };
}

/** The questions that Claude Code asks at its first start, answered. */
function seenBefore(theme, folder) {
  const project = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true };
  return { hasCompletedOnboarding: true, theme, projects: { [folder]: project } };
}

/** A host that speaks Anthropic's Messages API. It repeats the placeholders that it is sent, as a model would. */
async function startModel() {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'POST' || request.url.includes('count_tokens')) {
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end('{"input_tokens":4200}');
    }
    const [mail = 'them'] = body.match(/EMAIL_[A-Z]+/) ?? [];
    const [key = 'the key'] = body.match(/HIDDEN_[A-Z]+/) ?? [];
    const answer = `Sent it. The mail to ${mail} says: from now on use ${key}.`;
    const { model, stream } = JSON.parse(body);
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null };
    const usage = { input_tokens: 4200, output_tokens: 40 };
    if (stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json' });
      const content = [{ type: 'text', text: answer }];
      return response.end(JSON.stringify({ ...message, content, stop_reason: 'end_turn', usage }));
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type, more) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
    send('message_start', { message: { ...message, content: [], stop_reason: null, usage } });
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    for (const piece of answer.match(/.{1,9}/gs) ?? []) {
      send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: piece } });
      await pause(40);
    }
    send('content_block_stop', { index: 0 });
    send('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage });
    send('message_stop', {});
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: server.address().port };
}

/** Each line as pieces of one look. */
function linesOf(terminal) {
  const { active } = terminal.buffer;
  return Array.from({ length: rows }, (_, y) => {
    const line = active.getLine(active.baseY + y);
    const pieces = [];
    for (let x = 0; line !== undefined && x < columns; x += 1) {
      const one = line.getCell(x);
      if (one.getWidth() === 0) continue;
      const look = { color: colorOf(one, 'Fg'), back: colorOf(one, 'Bg'), isBold: one.isBold() !== 0 };
      look.isDim = one.isDim() !== 0;
      look.isInverse = one.isInverse() !== 0;
      const last = pieces.at(-1);
      if (last !== undefined && JSON.stringify(last.look) === JSON.stringify(look)) {
        last.text += one.getChars() || ' ';
        last.width += one.getWidth();
      } else pieces.push({ x, text: one.getChars() || ' ', width: one.getWidth(), look });
    }
    return pieces.filter(({ text, look }) => text.trim() !== '' || look.back !== undefined || look.isInverse);
  });
}

function colorOf(one, place) {
  if (one[`is${place}Default`]()) return undefined;
  const value = one[`get${place}Color`]();
  if (one[`is${place}RGB`]()) return `#${value.toString(16).padStart(6, '0')}`;
  return paletteColor(value);
}

/** xterm's 256 colours. */
function paletteColor(index) {
  const first = ['#2e3436', '#cc0000', '#3d8a1f', '#b58900', '#3465a4', '#75507b', '#06989a', '#a8aca6'];
  const bright = ['#777b76', '#ef2929', '#5aa02c', '#c4a000', '#5a8fd0', '#ad7fa8', '#2aa8a8', '#d3d7cf'];
  if (index < 16) return [...first, ...bright][index];
  const hex = (value) => value.toString(16).padStart(2, '0');
  if (index >= 232) return `#${hex(8 + (index - 232) * 10).repeat(3)}`;
  const level = (step) => (step === 0 ? 0 : 55 + step * 40);
  const at = index - 16;
  return `#${[Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => hex(level(step))).join('')}`;
}

function screenText(terminal) {
  const { active } = terminal.buffer;
  return Array.from(
    { length: rows },
    (_, y) => active.getLine(active.baseY + y)?.translateToString(true) ?? '',
  ).join('\n');
}

/** One picture that moves by itself: each frame is visible for its time, and the last one where motion is unwanted. */
function toSvg(theme, { screens, pages, endMs = screens.at(-1).atMs + 6000 }) {
  const { back, bar: barColor, text, quiet, line } = themes[theme];
  const width = terminalWidth + 1 + pageSize.width;
  const distinct = screens.filter(
    ({ lines }, index) => index === 0 || JSON.stringify(lines) !== JSON.stringify(screens[index - 1].lines),
  );
  const styles = [];
  const frames = (list, name, draw) =>
    list.map((frame, index) => {
      const from = (frame.atMs / endMs) * 100;
      const to = ((list[index + 1]?.atMs ?? endMs) / endMs) * 100;
      const id = `${name}${index}`;
      const isLast = index === list.length - 1;
      const shown = `${from.toFixed(2)}%,${Math.max(from, to - 0.01).toFixed(2)}%{visibility:visible}`;
      const before = from > 0 ? `0%,${(from - 0.01).toFixed(2)}%{visibility:hidden}` : '';
      const after = isLast ? '100%{visibility:visible}' : `${to.toFixed(2)}%,100%{visibility:hidden}`;
      styles.push(
        `@keyframes ${id}{${before}${shown}${after}}#${id}{animation:${id} ${endMs}ms step-end infinite}`,
      );
      if (!isLast) styles.push(`@media (prefers-reduced-motion:reduce){#${id}{visibility:hidden}}`);
      return `<g id="${id}">${draw(frame)}</g>`;
    });
  const terminal = frames(distinct, 't', ({ lines }) =>
    lines.map((pieces, y) => pieces.map((piece) => drawPiece(piece, y, { back, text })).join('')).join(''),
  );
  const shots = frames(
    pages,
    'p',
    ({ png }) =>
      `<image x="${terminalWidth + 1}" width="${pageSize.width}" height="${height}" href="data:image/png;base64,${png.toString('base64')}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="A terminal with Claude Code, started by gateway run, and the live page beside it, which shows that the mail address and the key left as placeholders">
<style>text{font:13px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}@media (prefers-reduced-motion:reduce){g{animation:none!important}}${styles.join('')}</style>
<rect width="${width}" height="${height}" rx="6" fill="${back}" stroke="${line}"/>
<rect width="${terminalWidth}" height="${bar}" fill="${barColor}"/>
<text x="${pad}" y="20" fill="${quiet}">~/shop</text>
<g transform="translate(${pad} ${bar + pad})">${terminal.join('\n')}</g>
<rect x="${terminalWidth}" width="1" height="${height}" fill="${line}"/>
${shots.join('\n')}
</svg>
`;
}

function drawPiece({ x, text, width, look }, y, theme) {
  const { isBold, isDim, isInverse } = look;
  const color = isInverse ? (look.back ?? theme.back) : (look.color ?? theme.text);
  const back = isInverse ? (look.color ?? theme.text) : look.back;
  const left = (x * cell.width).toFixed(1);
  const length = (width * cell.width).toFixed(1);
  const box =
    back === undefined
      ? ''
      : `<rect x="${left}" y="${y * cell.height}" width="${length}" height="${cell.height}" fill="${back}"/>`;
  if (text.trim() === '') return box;
  const more = `${isBold ? ' font-weight="bold"' : ''}${isDim ? ' opacity=".6"' : ''}`;
  return `${box}<text x="${left}" y="${y * cell.height + 13.5}" textLength="${length}" lengthAdjust="spacingAndGlyphs" fill="${color}"${more}>${escapeText(text)}</text>`;
}

function escapeText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function write(terminal, text) {
  return new Promise((resolve) => terminal.write(text, resolve));
}

async function until(isThere, what, show = () => '') {
  for (let tries = 0; tries < 600; tries += 1) {
    if (isThere()) return;
    await pause(100);
  }
  throw new Error(`not within 60 s: ${what}\n${show()}`);
}

/** The terminal has drawn what it was sent. */
function settle() {
  return pause(700);
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
