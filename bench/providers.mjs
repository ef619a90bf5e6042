// The two providers behind every contender: nginx with a fixed answer, and a Node program for streams.
import { join } from 'node:path';
import { nginxCommand } from './contenders/nginx.mjs';
import { cores, freePort, launch, stop } from './processes.mjs';
import { untilAnswered } from './request.mjs';

const text =
  'A reverse proxy takes requests of clients and passes them on to other servers. Reusing connections avoids a handshake on each call, which makes them quicker. '.repeat(
    2,
  );
const answer = JSON.stringify({
  id: 'chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT',
  object: 'chat.completion',
  created: 1741569952,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 40, completion_tokens: 60, total_tokens: 100 },
});

export async function startJsonProvider(folder, core = cores.load) {
  const port = await freePort();
  const socket = `${folder}/inner-${port}.sock`;
  // "return" answers before the body is read, so bodies of 10 KB and more take a way round that reads them whole.
  const command = nginxCommand(
    folder,
    `provider-${port}`,
    `server {
    listen 127.0.0.1:${port} backlog=4096;
    default_type application/json;
    add_header x-request-id req_011CSHoEeqs5C35K2UUqR7Fy always;
    add_header openai-processing-ms 312 always;
    add_header x-ratelimit-remaining-requests 9999 always;
    add_header x-ratelimit-remaining-tokens 149984 always;
    location / { if ($content_length ~ "^[0-9]{5}") { rewrite ^ /whole last; } return 200 '${answer}'; }
    location = /whole {
      internal;
      proxy_pass http://unix:${socket}; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_pass_request_body off; proxy_set_header Content-Length "";
    }
  }
  server { listen unix:${socket}; default_type application/json; return 200 '${answer}'; }`,
  );
  return start({ command, port, core });
}

export async function startStreamProvider() {
  const port = await freePort();
  return start({
    command: [process.execPath, join(import.meta.dirname, 'stream-provider.mjs'), String(port)],
    port,
    core: cores.load,
  });
}

async function start({ command, port, core }) {
  const child = launch({ command, core });
  await untilAnswered({ port, headers: {}, body: '{}' }, child);
  return { port, pid: child.pid, stop: () => stop(child) };
}
