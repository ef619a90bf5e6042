import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../errors.ts';

export type PasswordChecker = ReturnType<typeof createPasswordChecker>;

interface Parameters {
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

/** scrypt's N for new passwords. */
const standardPasswordCost = 2 ** 17;
const keyBytes = 32;
const saltBytes = 16;
// One run takes 128 MiB, and a core for a good part of a second.
const runsAtOnce = 2;
const runsWaiting = 16;

/** scrypt, a few at a time: more logins than the machine can check are refused rather than queued. */
export function createPasswordChecker(cost = standardPasswordCost) {
  const current: Parameters = { cost, blockSize: 8, parallelization: 1 };
  const inQueue = createQueue();
  // Nobody knows this password; checking it only takes as long as a real one.
  const decoy = format(current, randomBytes(saltBytes), randomBytes(keyBytes));
  return {
    hash: (password: string) =>
      inQueue(async () => {
        const salt = randomBytes(saltBytes);
        return format(current, salt, await derive(password, salt, current));
      }),
    /** Takes the same work whether or not there is such a user. */
    matches: (password: string, hash: string | undefined) =>
      inQueue(async () => {
        const { parameters, salt, key } = parse(hash ?? decoy);
        const isEqual = timingSafeEqual(await derive(password, salt, parameters), key);
        return isEqual && hash !== undefined;
      }),
  };
}

function derive(
  password: string,
  salt: Buffer,
  { cost, blockSize, parallelization }: Parameters,
): Promise<Buffer> {
  const options: ScryptOptions = { cost, blockSize, parallelization, maxmem: 256 * cost * blockSize };
  return new Promise((resolve, reject) => {
    // Normalized, so that the same password typed on another keyboard is the same bytes.
    scrypt(password.normalize('NFC'), salt, keyBytes, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    );
  });
}

/** The parameters are stored with each hash, so that they can be raised while old passwords still work. */
function format({ cost, blockSize, parallelization }: Parameters, salt: Buffer, key: Buffer): string {
  return ['scrypt', cost, blockSize, parallelization, salt.toString('base64'), key.toString('base64')].join(
    '$',
  );
}

function parse(hash: string) {
  const [, cost, blockSize, parallelization, salt = '', key = ''] = hash.split('$');
  return {
    parameters: {
      cost: Number(cost),
      blockSize: Number(blockSize),
      parallelization: Number(parallelization),
    },
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  };
}

function createQueue() {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (running >= runsAtOnce) {
      if (waiting.length >= runsWaiting) {
        throw new GatewayError('gateway.overloaded', 'too many logins at once; try again soon', {
          retryAfterS: 5,
        });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next(); // passes its slot on
    }
  };
}
