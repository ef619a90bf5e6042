// An OpenAI host for trouble.mjs, on bare sockets: Node's own server takes a second for each megabyte of single bytes.
import { createServer } from 'node:net';

const megabytes = Number(process.argv[2]);

const server = createServer((socket) => {
  socket.on('error', () => {});
  let head = '';
  socket.on('data', (data) => {
    head += data.toString('latin1');
    if (!head.includes('\r\n\r\n') || !head.includes('}')) return;
    const isStream = /"stream":\s*true/.test(head);
    head = '';
    if (isStream) streamForEver(socket);
    else void answerByteByByte(socket);
  });
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('message', () => process.send({ streams, bytes: streamedBytes }));

/** Streams that the host was asked for, and the bytes that were taken of all. */
let streams = 0;
let streamedBytes = 0;

const writesOf = (socket, piece, count) =>
  new Promise((resolve) => {
    let left = count;
    const go = () => {
      while (left > 0) {
        if (socket.destroyed) return resolve();
        left -= 1;
        if (left === Number.POSITIVE_INFINITY) streamedBytes += piece.length;
        if (!socket.write(piece)) return void socket.once('drain', go);
      }
      resolve();
    };
    socket.once('close', resolve);
    go();
  });

async function answerByteByByte(socket) {
  const text = 'x'.repeat(1024);
  const whole = (part) =>
    Buffer.from(Array.from(part, (character) => `1\r\n${character}\r\n`).join(''), 'latin1');
  const before =
    '{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"';
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
  socket.write(whole(before));
  await writesOf(socket, whole(text), megabytes * 1024);
  socket.write(whole('"}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'));
  socket.write('0\r\n\r\n');
}

function streamForEver(socket) {
  const event = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content: 'x'.repeat(2000) }, finish_reason: null }] })}\n\n`;
  const chunk = `${event.length.toString(16)}\r\n${event}\r\n`;
  streams += 1;
  socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n');
  void writesOf(socket, chunk, Number.POSITIVE_INFINITY);
}
