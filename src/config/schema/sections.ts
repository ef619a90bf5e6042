import * as z from 'zod';
import { memoize } from '../../lib/memoize.ts';
import { about } from '../../policy/matchers/about.ts';
import { reaching } from './reach.ts';
import {
  amount,
  duration,
  filePath,
  hostName,
  memorySize,
  port,
  postgresUrl,
  price,
  size,
} from './scalars.ts';
import { parseMemorySize, parseSize } from './units.ts';

/** Making a format takes 30 µs, and thousands of keys may be in the same few zones. */
const isTimeZone = memoize((name) => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== undefined;
  } catch {
    return false; // RangeError: there is no such zone
  }
});

const timeZone = z
  .string()
  .refine(isTimeZone, 'expected the name of a time zone such as UTC or Europe/Berlin');

/** A company's agents read more than 10^9 tokens a month. */
const tokens = z.int().min(1).max(1_000_000_000_000);

/** How much a project or a key may use. */
export const limitsSchema = reaching(
  'nothing',
  z.strictObject({
    requests_per_minute: amount.optional().register(...about('Requests in any minute.')),
    tokens_per_minute: tokens.optional().register(...about('Tokens of input and output in any minute.')),
    concurrent_requests: amount.optional().register(...about('Requests at the same time.')),
    tokens_per_day: tokens.optional().register(...about('Tokens in a day.')),
    tokens_per_month: tokens.optional().register(...about('Tokens in a calendar month.')),
    usd_per_day: price.optional().register(...about('US$ in a day.')),
    usd_per_month: price.optional().register(...about('US$ in a calendar month.')),
    requests_per_session: amount
      .optional()
      .register(
        ...about("Requests in a session, as agents name it (docs/sessions.md); others aren't counted."),
      ),
    tokens_per_session: tokens
      .optional()
      .register(
        ...about('Tokens of input and output in a session; those read from a cache count by their price.'),
      ),
    usd_per_session: price.optional().register(...about('US$ in a session.')),
    repeated_requests: amount
      .optional()
      .register(
        ...about(
          'Equal requests in any minute: the same bytes to the same path in a session, or of a key without one.',
        ),
      ),
    unpriced: z
      .enum(['refuse', 'allow'])
      .default('refuse')
      .register(...about('What a budget in US$ does with a model whose price is unknown.')),
    time_zone: timeZone
      .default('UTC')
      .register(...about('Time zone at whose midnight days and months begin, as an IANA name.')),
    mode: z
      .enum(['enforce', 'monitor'])
      .default('enforce')
      .register(...about('Refuse, or only record what would be refused.')),
  }),
);

export const serverSchema = z.strictObject({
  host: reaching('listener', hostName.default('127.0.0.1')).register(
    ...about('Address to listen on; keep loopback unless others must connect.'),
  ),
  port: port.default(4100).register(...about('Port to listen on; 0 takes any free one.')),
  workers: reaching('nothing', z.int().min(1).max(256))
    .default(1)
    .register(...about('Processes that share the port; more than one uses more cores.')),
  allowed_hosts: z
    .array(reaching('host name', hostName.clone()))
    .default([])
    .register(
      ...about(
        'Host names, besides loopback and `server.host`, that are accepted in the Host header, without a port. Beyond loopback, IP addresses are too; health checks may have any.',
      ),
    ),
  allowed_origins: z
    .array(
      reaching(
        'origin',
        z
          .string()
          .regex(
            /^[a-z][a-z0-9+.-]*:\/\/[^/\s]+$/,
            'expected an origin such as https://app.example.com or app://obsidian.md',
          ),
      ),
    )
    .default([])
    .register(
      ...about(
        'Origins whose pages may call the gateway from a browser or a desktop program (`https://…`, `app://…`, `tauri://…`): their preflights are answered.',
      ),
    ),
  limits: z
    .strictObject({
      head_timeout: duration()
        .default('10s')
        .register(...about('Longest time for the head of a request.')),
      body_idle_timeout: duration()
        .default('15s')
        .register(...about('Longest gap inside the body of a request.')),
      body_timeout: duration()
        .default('60s')
        .register(...about('Longest time for the whole body of a request.')),
      head_size: size.default('16KiB').register(...about('Largest head of a request.')),
      body_size: size
        .default('32MiB')
        .register(...about('Largest body of a request, also after decompression.')),
      bodies_in_flight: memorySize
        .default('512MiB')
        .register(
          ...about(
            'Most memory for the bodies of open requests. One key may hold as much as is still free: half of it, if it is alone. At most a sixteenth of the memory of the container or machine; a body at most half of that.',
          ),
        ),
      connections: amount.default(10_000).register(...about('Most connections at a time.')),
      pipelined: reaching('nothing', z.int().min(1).max(1000))
        .default(16)
        .register(...about('Requests that may wait for answers on one connection.')),
      idle_timeout: duration()
        .default('620s')
        .register(
          ...about(
            'How long a connection stays open without a request: longer than a balancer in front reuses it (docs/deployment.md).',
          ),
        ),
      write_timeout: duration()
        .default('30s')
        .register(...about('How long a client may stop reading its answer.')),
      drain: duration(0)
        .default('30s')
        .register(...about('How long open streams may go on when the gateway stops.')),
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
    .register(...about('Limits of what clients may do to the server.')),
});

/** How long records are kept unless a file says otherwise. */
export const keptRecordDays = 90;

/** What is written about each exchange, and where. */
export const recordsSchema = z.strictObject({
  file: reaching('records', filePath.clone())
    .nullable()
    .default(null)
    .register(...about('File of the JSON lines, relative to this file; null: in the state directory.')),
  days: reaching('retention', z.int().min(1).max(3_650).nullable())
    .default(keptRecordDays)
    .register(
      ...about('How many days they are kept, with a file for each day (UTC); null: in one file, for ever.'),
    ),
  bodies: reaching('bodies', z.boolean())
    .default(false)
    .register(...about('Record request bodies too, in the file only: `gateway policy replay` needs them.')),
  ledger: reaching('nothing', z.boolean())
    .optional()
    .register(
      ...about(
        'Keep durable sums of usage, from which budgets continue after a restart; default: yes, unless only the sandbox is served.',
      ),
    ),
  ledger_sync: reaching('nothing', z.enum(['every_second', 'always']))
    .default('every_second')
    .register(
      ...about(
        'How often the ledger is written through to the disk. What was answered survives the end of the process in any case; `always` also waits for the disk before each call to a provider, so that a power failure loses nothing.',
      ),
    ),
  ledger_file: reaching('usage file', filePath.clone())
    .nullable()
    .default(null)
    .register(
      ...about(
        'SQLite file of the ledger, relative to this file; null: one for this configuration, in the state directory.',
      ),
    ),
  ledger_database: reaching('usage database', postgresUrl.nullable())

    .default(null)
    .register(
      ...about('PostgreSQL database of the ledger, which several gateways can share; null: the file.'),
    ),
  ledger_rows: reaching('nothing', z.boolean().nullable())
    .default(null)
    .register(
      ...about(
        'Whether each exchange also has a row in the ledger, for queries of your own; null: in PostgreSQL only. Without rows `gateway sessions show` reads the records of this machine.',
      ),
    ),
  ledger_days: reaching('nothing', z.int().min(1).max(3_650))
    .default(90)
    .register(...about('How many days its rows are kept; sums are kept for 400 days.')),
  ledger_megabytes: reaching('nothing', z.int().min(1).max(1_000_000))
    .default(1_000)
    .register(...about('How large the ledger may become before the oldest rows are deleted.')),
});
