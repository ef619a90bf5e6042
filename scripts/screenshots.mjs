#!/usr/bin/env node
// Makes docs/images/ from the live page of a real gateway with sample traffic: `npm run build && node
// scripts/screenshots.mjs [FOLDER]`, with Chromium installed. The last hour of the charts is sample data too.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { toSmallPng } from './small-png.mjs';

const root = join(import.meta.dirname, '..');
const images = process.argv[2] ?? join(root, 'docs', 'images');
const wide = { width: 1280, height: 720 };
const narrow = { width: 400, height: 720 };
const words = 'Dear customer, the parcel left on Monday and will be with you tomorrow.'
  .split(' ')
  .map((word) => `${word} `);

const providers = await startProviders();
const home = mkdtempSync(join(tmpdir(), 'gateway-screenshots-'));
writeFileSync(join(home, 'gateway.yaml'), configuration(providers.port), { mode: 0o600 });
const env = {
  PATH: process.env.PATH,
  HOME: home,
  SHOP_KEY: 'shop-project-key-0123456789',
  AGENT_KEY: 'agent-project-key-0123456789',
  PROVIDER_KEY: 'provider-secret-0123456789',
  TZ: 'UTC',
};
const serve = start(['serve', '-p', '0', '-c', 'gateway.yaml']);
await serve.wrote('"listening"');
const { url } = JSON.parse(readFileSync(join(home, '.local/state/gateway/running.json'), 'utf8'));
const browser = await chromium.launch({
  executablePath: ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path)),
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  mkdirSync(images, { recursive: true });
  const context = await browser.newContext({ viewport: wide });
  const page = await context.newPage();
  await page.addInitScript((minutes) => {
    const { parse } = JSON;
    JSON.parse = (text) => {
      const event = parse(text);
      return event.minutes === undefined ? event : { ...event, minutes };
    };
  }, sampleHour(new Date().toISOString()));
  await page.goto(await link());
  await page.getByRole('button', { name: 'Keep bodies 10 min' }).click();
  await page.getByRole('button', { name: /^Bodies kept/ }).waitFor();
  await sendTraffic();
  const list = page.getByRole('grid');
  await page.waitForFunction(() => document.querySelectorAll('.row:not(.head)').length > 20);
  const redacted = page.locator('.row.redact').first();
  const shoot = async (name, viewport, colorScheme) => {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(400); // charts and lines are drawn anew
    writeFileSync(join(images, `${name}.png`), toSmallPng(await page.screenshot()));
  };
  const shootAll = async (name) => {
    await shoot(`${name}-light`, wide, 'light');
    await shoot(`${name}-dark`, wide, 'dark');
  };
  await list.waitFor();
  await shootAll('traffic');
  await shoot('traffic-narrow', narrow, 'light');
  await page.setViewportSize(wide);
  await redacted.click();
  await page.locator('.waterfall').waitFor();
  await shootAll('exchange');
  await shoot('exchange-narrow', narrow, 'dark');
  await page.setViewportSize(wide);
  await page.getByRole('tab', { name: 'Request' }).click();
  await shoot('request', wide, 'light');
  await page.keyboard.press('Escape');
  await page.keyboard.press('2');
  await page.locator('.plot svg').last().waitFor();
  await shootAll('now');
  await page.keyboard.press('1');
  await page.locator('.row.block').first().click();
  await page.locator('.actions').getByRole('button', { name: 'Try a policy' }).click();
  await page.getByText(/^It would be blocked/).waitFor();
  await shoot('try', wide, 'light');
} finally {
  await browser.close();
  serve.child.kill('SIGTERM');
  providers.server.close();
  providers.server.closeAllConnections();
  rmSync(home, { recursive: true, force: true });
}

function start(argv) {
  const child = spawn(process.execPath, [join(root, 'bin/gateway.js'), ...argv], { cwd: home, env });
  let text = '';
  const wrote = (wanted) =>
    new Promise((resolve, reject) => {
      const look = (chunk) => {
        text += chunk;
        if (text.includes(wanted)) resolve(text);
      };
      child.stdout.on('data', look);
      child.stderr.on('data', look);
      child.on('close', () => reject(new Error(`ended before it wrote ${wanted}: ${text}`)));
    });
  return { child, wrote };
}

async function link() {
  const text = await start(['open', '--no-browser']).wrote('#token=');
  return text.trim();
}

function configuration(port) {
  return `
providers:
  anthropic: { dialect: anthropic, base_url: "http://127.0.0.1:${port}", api_key: "\${PROVIDER_KEY}" }
  openai: { dialect: openai, base_url: "http://127.0.0.1:${port}/v1", api_key: "\${PROVIDER_KEY}" }
models:
  - { match: "claude-*", provider: anthropic }
  - { match: "gpt-*", provider: openai }
policies:
  house:
    apply: all
    rules:
      # Customers' addresses stay here.
      - id: no-customer-mail
        action: redact
        reason: data.email
        when: { text: { detect: [email] } }
      # What must not be known outside.
      - id: codename
        action: block
        reason: content.codename
        when: { text: { phrases: ["project blue heron"] } }
      - id: known-models
        action: block
        reason: model.not_allowed
        unless: { model: ["claude-*", "gpt-5*", "gpt-6*"] }
      - id: long-answers
        action: warn
        reason: limits.max_output_tokens
        when: { max_output_tokens: { over: 8000 } }
projects:
  shop:
    limits: { usd_per_day: 5, requests_per_minute: 60 }
    keys: [{ id: shop-web, value: "\${SHOP_KEY}" }]
  agent:
    limits: { tokens_per_day: 40000 }
    keys: [{ id: agent-ci, value: "\${AGENT_KEY}" }]
plants: { store: { enabled: false } }
`;
}

/** Both providers in one: answers after a while, in pieces where a stream was asked for. */
async function startProviders() {
  let count = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const asked = JSON.parse(body);
    count += 1;
    await pause(60 + ((count * 137) % 400));
    if (asked.model.includes('haiku')) {
      response.writeHead(529, { 'content-type': 'application/json' });
      return response.end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
    }
    const isMessages = request.url.startsWith('/v1/messages');
    const usage = { input: 800 + ((count * 977) % 9000), output: 60 + ((count * 53) % 700) };
    response.writeHead(200, { 'content-type': asked.stream ? 'text/event-stream' : 'application/json' });
    if (!asked.stream)
      return response.end(
        JSON.stringify(isMessages ? message(asked.model, usage) : completion(asked.model, usage)),
      );
    const events = isMessages ? messageEvents(asked.model, usage) : completionEvents(asked.model, usage);
    for (const event of events) {
      response.write(event);
      await pause(20 + ((count * 31) % 90));
    }
    return response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: server.address().port };
}

function message(model, { input, output }) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: words.join('') }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: input, output_tokens: output, cache_read_input_tokens: Math.round(input / 2) },
  };
}

function completion(model, { input, output }) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop' }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}

function messageEvents(model, { input, output }) {
  const event = (type, more) => `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  return [
    event('message_start', {
      message: { ...message(model, { input, output: 1 }), content: [], stop_reason: null },
    }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...words.map((text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })),
    event('content_block_stop', { index: 0 }),
    event('message_delta', {
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: output },
    }),
    event('message_stop', {}),
  ];
}

function completionEvents(model, { input, output }) {
  const chunk = (more) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, ...more })}\n\n`;
  return [
    ...words.map((content) => chunk({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    chunk({
      choices: [],
      usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
    }),
    'data: [DONE]\n\n',
  ];
}

async function sendTraffic() {
  const questions = [
    ['claude-sonnet-5-5', 'Where is my parcel?', 'SHOP_KEY', 'shop-web/3.2'],
    ['gpt-5.6-luna', 'Summarize these reviews.', 'SHOP_KEY', 'openai-python/2.1.0'],
    ['claude-opus-5-5', 'Review this change.', 'AGENT_KEY', 'claude-cli/2.0.14'],
    [
      'claude-sonnet-5-5',
      'Write to jo.miller@example.org that the parcel is late, and be kind.',
      'SHOP_KEY',
      'shop-web/3.2',
    ],
    ['gpt-6-sol', 'Draft the announcement of Project Blue Heron.', 'AGENT_KEY', 'codex-cli/0.46.0'],
    ['claude-sonnet-5-5', 'Name three colours.', 'AGENT_KEY', 'claude-cli/2.0.14'],
    ['gpt-4o', 'Translate this.', 'SHOP_KEY', 'openai-python/2.1.0'],
    ['gpt-6-sol', 'Explain the failing test.', 'AGENT_KEY', 'codex-cli/0.46.0'],
    ['claude-haiku-5-5', 'Classify this ticket.', 'SHOP_KEY', 'shop-web/3.2'],
  ];
  for (let index = 0; index < 27; index += 1) {
    const [model, content, key, client] = questions[index % questions.length];
    const isMessages = model.startsWith('claude');
    const response = await fetch(url + (isMessages ? '/v1/messages' : '/v1/chat/completions'), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${env[key]}`,
        'user-agent': client,
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify({
        model,
        max_tokens: index % 6 === 5 ? 9000 : 1000,
        stream: index % 3 !== 1,
        messages: [{ role: 'user', content }],
      }),
    });
    await response.text();
  }
}

function sampleHour(time) {
  const end = Math.floor(Date.parse(time) / 60_000);
  return Array.from({ length: 60 }, (_, index) => {
    const requests = Math.round(18 + 12 * Math.sin(index / 7) + ((index * 7) % 9));
    return {
      time: new Date((end - 59 + index) * 60_000).toISOString(),
      requests,
      tokens: { input: requests * 3100, output: requests * 240, cached: requests * 1500 },
      cost_usd: requests * 0.0041,
      first_byte_ms: { p50: 240 + ((index * 13) % 60), p95: 620 + ((index * 97) % 480) },
      blocks:
        index % 6 === 2
          ? { 'content.codename': 1 + (index % 3) }
          : index % 11 === 0
            ? { 'model.not_allowed': 2 }
            : {},
      errors: index > 31 && index < 37 ? { 'status 529': index - 30 } : {},
    };
  });
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
