import type { Redis } from 'ioredis';
import { extendAddressAttemptTimeout } from '../../lib/address-attempts.ts';

/**
 * Counts all claims of an exchange or none, atomically in Redis, by the clock of Redis.
 *
 * KEYS: the mark of a Redis that knows what budgets have used, the set of the gateway's open leases, then one counter
 * per claim. ARGV: the lease's name, when it ends without renewal (ms), then for each claim kind, max, amount, end of
 * the period (ms), 1 if it is enforced, 1 if its counter must exist.
 *
 * Returns: index of the claim that does not fit (0: granted; -1: the mark is missing; -2: counters are missing), the
 * second, the mark, then used and reset (ms) of each claim, or the indexes of those whose counters are missing. Nothing
 * was counted unless it is 0. Fails with BADCOUNTER and the key, before anything is counted, if a counter's key holds
 * something else.
 */
const reserveScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local second = tonumber(time[1])
local leaseMs = tonumber(ARGV[2])

local function bad(key) error('BADCOUNTER ' .. key, 0) end

local function number(key, text)
  if not string.match(text, '^%-?%d+$') then bad(key) end
  return tonumber(text)
end

local function read(command, key, ...)
  local answer = redis.pcall(command, key, ...)
  if type(answer) == 'table' and answer.err then
    if string.find(answer.err, 'WRONGTYPE') then bad(key) end
    error(answer.err, 0)
  end
  return answer
end

local function window(key)
  local sum = 0
  local sums = {}
  local fields = read('HGETALL', key)
  for i = 1, #fields, 2 do
    local at = number(key, fields[i])
    -- Those of a clock that has since been set back would otherwise stay for as long.
    if at <= second - 61 or at > second + 61 then
      redis.call('HDEL', key, fields[i])
    else
      local amount = number(key, fields[i + 1])
      sum = sum + amount
      sums[#sums + 1] = { at, amount }
    end
  end
  return sum, sums
end

local function wait(sums, sum, most)
  table.sort(sums, function(a, b) return a[1] < b[1] end)
  for _, each in ipairs(sums) do
    if sum <= most then return 0 end
    sum = sum - each[2]
    if sum <= most then return (each[1] + 61) * 1000 - now end
  end
  return 0
end

local mark = redis.call('GET', KEYS[1])
if not mark then return { -1, second, '' } end

local claims = {}
local missing = {}
local refused = 0
for i = 1, #KEYS - 2 do
  local key = KEYS[i + 2]
  local at = 2 + (i - 1) * 6
  local claim = { key = key, kind = ARGV[at + 1], max = tonumber(ARGV[at + 2]), amount = tonumber(ARGV[at + 3]),
    ends = tonumber(ARGV[at + 4]) }
  if claim.kind == 'minute' then
    claim.used, claim.sums = window(key)
  elseif claim.kind == 'level' then
    read('ZREMRANGEBYSCORE', key, '-inf', now)
    claim.used = read('ZCARD', key)
  else
    local held = read('GET', key)
    if not held and ARGV[at + 6] == '1' then missing[#missing + 1] = i end
    claim.used = number(key, held or '0')
  end
  if refused == 0 and ARGV[at + 5] == '1' and claim.used + claim.amount > claim.max then refused = i end
  claims[i] = claim
end

if #missing > 0 then return { -2, second, mark, unpack(missing) } end
if refused == 0 then
  redis.call('SADD', KEYS[2], ARGV[1])
  redis.call('PEXPIRE', KEYS[2], leaseMs * 2)
end
local answer = { refused, second, mark }
for _, claim in ipairs(claims) do
  local used = claim.used
  if refused == 0 then
    used = used + claim.amount
    if claim.kind == 'minute' then
      redis.call('HINCRBY', claim.key, second, string.format('%.0f', claim.amount))
      redis.call('PEXPIRE', claim.key, 122000)
    elseif claim.kind == 'level' then
      redis.call('ZADD', claim.key, now + leaseMs, ARGV[1])
      redis.call('PEXPIRE', claim.key, leaseMs * 2)
    else
      redis.call('INCRBY', claim.key, string.format('%.0f', claim.amount))
      redis.call('PEXPIREAT', claim.key, math.max(claim.ends, now) + 172800000)
    end
  end
  local reset = 0
  if claim.kind == 'period' then
    reset = math.max(0, claim.ends - now)
  elseif claim.kind == 'minute' then
    local most = 0
    if claim.used + claim.amount > claim.max then most = math.max(0, claim.max - claim.amount) end
    if refused == 0 then claim.sums[#claim.sums + 1] = { second, claim.amount } end
    reset = wait(claim.sums, used, most)
  end
  answer[#answer + 1] = string.format('%.0f', used)
  answer[#answer + 1] = string.format('%.0f', reset)
end
return answer
`;

/**
 * Replaces what was claimed by what was used.
 *
 * KEYS: the set of the gateway's open leases, then one counter per claim. ARGV: the lease's name, the second of the
 * reservation, 1 to do nothing unless the lease is open, then for each claim kind, difference, end of the period (ms), 1
 * if a missing counter is created elsewhere. One that is gone is not created for a difference below zero either. Returns the keys that hold something other
 * than a counter, which are left alone.
 */
const settleScript = `
local second = tonumber(redis.call('TIME')[1])
local now = second * 1000
local isOpen = redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1
if ARGV[3] == '1' and not isOpen then return {} end

local bad = {}
local function count(command, key, ...)
  local answer = redis.pcall(command, key, ...)
  if type(answer) ~= 'table' or not answer.err then return answer end
  if not string.find(answer.err, 'WRONGTYPE') and not string.find(answer.err, 'not an integer') then
    error(answer.err, 0)
  end
  bad[#bad + 1] = key
  return nil
end

for i = 2, #KEYS do
  local key = KEYS[i]
  local at = 3 + (i - 2) * 4
  local kind = ARGV[at + 1]
  local difference = tonumber(ARGV[at + 2])
  if kind == 'level' then
    count('ZREM', key, ARGV[1])
  elseif kind == 'minute' then
    if tonumber(ARGV[2]) > second - 61 and count('HEXISTS', key, ARGV[2]) == 1 then
      count('HINCRBY', key, ARGV[2], string.format('%.0f', difference))
    end
  elseif (difference > 0 and ARGV[at + 4] ~= '1') or redis.call('EXISTS', key) == 1 then
    local used = count('INCRBY', key, string.format('%.0f', difference))
    if used then
      if used < 0 then redis.call('SET', key, '0') end
      redis.call('PEXPIREAT', key, math.max(tonumber(ARGV[at + 3]), now) + 172800000)
    end
  end
end
-- Last: a server that takes no writes fails above, and is asked again.
if isOpen then redis.call('SREM', KEYS[1], ARGV[1]) end
return bad
`;

/**
 * Creates a period's counter, or raises it to what it held before, and replaces anything that is not a counter. KEYS:
 * the counter. ARGV: sum, end of the period (ms).
 */
const restoreScript = `
local sum = tonumber(ARGV[1])
local now = redis.call('TIME')[1] * 1000
local held = redis.pcall('GET', KEYS[1])
local used = type(held) == 'string' and string.match(held, '^%-?%d+$') and tonumber(held)
if not used or sum > used then
  redis.call('SET', KEYS[1], string.format('%.0f', sum))
  redis.call('PEXPIREAT', KEYS[1], math.max(tonumber(ARGV[2]), now) + 172800000)
end
return 0
`;

interface Scripts {
  gatewayReserve(keys: number, ...args: (string | number)[]): Promise<(string | number)[]>;
  gatewaySettle(keys: number, ...args: (string | number)[]): Promise<string[]>;
  gatewayRestore(keys: number, counter: string, used: number, endsMs: number): Promise<number>;
}

/** Redis with the scripts that count limits. */
export type ScriptedRedis = Redis & Scripts;

/** A connection that opens lazily, fails once the server is silent for too long, and reconnects by itself. */
export async function connectRedis(
  url: string,
  { silentMs }: { readonly silentMs: number },
): Promise<ScriptedRedis> {
  const { Redis } = await import('ioredis'); // loaded only if it is configured
  extendAddressAttemptTimeout(); // in whichever thread this is: ioredis has no setting for it
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 5_000,
    retryStrategy: (tries) => Math.min(5_000, 50 * 2 ** Math.min(tries, 7)) * (0.5 + Math.random() / 2),
  });
  failWhenSilent(redis, silentMs);
  redis.defineCommand('gatewayReserve', { lua: reserveScript });
  redis.defineCommand('gatewaySettle', { lua: settleScript });
  redis.defineCommand('gatewayRestore', { lua: restoreScript });
  return redis as ScriptedRedis; // the commands that were just defined
}

/** How often within the time it is checked whether anything was answered. */
const checks = 4;

/**
 * Breaks the connection, and so fails its commands, if there is no answer for a while. A timer for each command
 * (`commandTimeout`) would also fire when this process was held up: timers run before sockets are read.
 */
function failWhenSilent(redis: Redis, silentMs: number): void {
  let pending = 0;
  let answered = 0;
  let answeredBefore = 0;
  let silentChecks = 0;
  const send = redis.sendCommand.bind(redis);
  redis.sendCommand = (command, stream) => {
    pending += 1;
    const ended = () => {
      pending -= 1;
      answered += 1;
    };
    command.promise.then(ended, ended);
    return send(command, stream);
  };
  const isSilent = () => pending > 0 && answered === answeredBefore;
  const check = () => {
    silentChecks = isSilent() ? silentChecks + 1 : 0;
    answeredBefore = answered;
    if (silentChecks <= checks) return;
    setImmediate(() => {
      if (isSilent()) redis.stream.destroy(new Error(`Redis did not answer for ${silentMs} ms`));
    });
  };
  const watch = setInterval(check, silentMs / checks).unref();
  redis.on('end', () => clearInterval(watch));
}
