import * as z from 'zod';
import { reaching } from './reach.ts';
import { amount, duration, hostName, memorySize, port, size } from './scalars.ts';
import { parseMemorySize, parseSize } from './sizes.ts';

export const serverSchema = z.strictObject({
  host: reaching('listener', hostName.default('127.0.0.1')).describe(
    'Address to listen on; keep loopback unless others must connect.',
  ),
  port: port.default(4100).describe('Port to listen on; 0 takes any free one.'),
  workers: reaching('nothing', z.int().min(1).max(256))
    .default(1)
    .describe('Processes that share the port; more than one uses more cores.'),
  allowed_hosts: z
    .array(reaching('host name', hostName.clone()))
    .default([])
    .describe('Host names, besides loopback, that are accepted in the Host header, without a port.'),
  allowed_origins: z
    .array(
      reaching(
        'origin',
        z.string().regex(/^https?:\/\/[^/\s]+$/, 'expected an origin such as https://app.example.com'),
      ),
    )
    .default([])
    .describe('Web origins whose pages may call the gateway.'),
  limits: z
    .strictObject({
      head_timeout: duration().default('10s').describe('Longest time for the head of a request.'),
      body_idle_timeout: duration().default('15s').describe('Longest gap inside the body of a request.'),
      body_timeout: duration().default('60s').describe('Longest time for the whole body of a request.'),
      head_size: size.default('16KiB').describe('Largest head of a request.'),
      body_size: size.default('32MiB').describe('Largest body of a request, also after decompression.'),
      bodies_in_flight: memorySize
        .default('512MiB')
        .describe(
          'Most memory for the bodies of open requests. One key may hold as much as is still free: half of it, if it is alone.',
        ),
      connections: amount.default(10_000).describe('Most connections at a time.'),
      pipelined: reaching('nothing', z.int().min(1).max(1000))
        .default(16)
        .describe('Requests that may wait for answers on one connection.'),
      write_timeout: duration().default('30s').describe('How long a client may stop reading its answer.'),
      drain: duration(0).default('30s').describe('How long open streams may go on when the gateway stops.'),
    })
    .refine(
      ({ body_size, bodies_in_flight }) =>
        (parseMemorySize(bodies_in_flight) ?? 0) >= 2 * (parseSize(body_size) ?? 0),
      {
        path: ['bodies_in_flight'],
        error: 'expected at least twice body_size: one key gets half of it, and a body must fit',
      },
    )
    .prefault({})
    .describe('Limits of what clients may do to the server.'),
});
