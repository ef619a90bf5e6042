-- wrk -s load-json.lua URL -- BODY_FILE NAME=VALUE...
-- Every @@MARK@@ of the body becomes a word that is another one in every request.
-- PIPELINED in the environment: so many requests are sent at once on a connection, of a body without marks.
local parts, counter, fixed = {}, 0, nil

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  local body = file:read('*a')
  file:close()
  wrk.method = 'POST'
  wrk.headers['content-type'] = 'application/json'
  for i = 2, #args do
    local name, value = args[i]:match('^([^=]+)=(.*)$')
    wrk.headers[name] = value
  end
  local from = 1
  while true do
    local first, last = body:find('@@MARK@@', from, true)
    if not first then break end
    parts[#parts + 1] = body:sub(from, first - 1)
    from = last + 1
  end
  parts[#parts + 1] = body:sub(from)
  if #parts == 1 then fixed = string.rep(wrk.format(nil, nil, nil, body), tonumber(os.getenv('PIPELINED') or 1)) end
  counter = os.time() % 100000 * 100000 -- samples follow each other, and must not repeat each other's words
end

function request()
  if fixed then return fixed end
  counter = counter + 1
  local letters, rest = {}, counter
  for i = 1, 8 do
    letters[i] = string.char(97 + rest % 26)
    rest = math.floor(rest / 26)
  end
  return wrk.format(nil, nil, nil, table.concat(parts, table.concat(letters)))
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\n{"requests":%d,"micros":%d,"p50":%g,"failed":%d}\n',
    summary.requests, summary.duration, latency:percentile(50),
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
