package redis

import "github.com/redis/go-redis/v9"

// leaseRights lists the permissions that the scripts and the client require.
const leaseRights = "+eval +evalsha +time +info +wait +hget +hmget +hset +hsetnx +hexists " +
	"+exists +persist +pttl +pexpire"

// All records of a name are fields of one hash. The field of a slot number contains the
// holder, the expiry, the token and the mark. "since" is the time of the first record,
// "run" the run ID of the server at that time, and "many" exists if the name has several
// slots.
//
// Times are microseconds of the server's clock, which a Lua number represents exactly
// until the year 2255. Marks can be any int64, which exceeds a Lua number, so they remain
// strings. num formats numbers, because Lua would format large numbers with an exponent.
//
//nolint:dupword // ends of Lua blocks
const leaseCommon = `
local key = KEYS[1]
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]

local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')

local function num(n) return string.format('%.0f', n) end

local function read(value)
  if not value then return {holder = '', till = 0, token = 0, mark = '0'} end
  local holder, till, token, mark = string.match(value, '^(%S+) (%d+) (%d+) (-?%d+)$')
  return {holder = holder, till = tonumber(till), token = tonumber(token), mark = mark}
end

local function write(slot, r)
  redis.call('HSET', key, slot, r.holder .. ' ' .. num(r.till) .. ' ' .. num(r.token) .. ' ' .. r.mark)
end

-- less compares integers in decimal strings.
local function less(a, b)
  local minusA, minusB = string.sub(a, 1, 1) == '-', string.sub(b, 1, 1) == '-'
  if minusA ~= minusB then return minusA end
  if minusA then a, b = b, a end
  if #a ~= #b then return #a < #b end
  return a < b
end

-- keep stores the time of the first record and extends the lifetime of the hash beyond
-- the record: by a minute if the name has one slot, permanently if it has several. If the
-- run ID differs, the server may have lost later records: it may have loaded a snapshot or
-- an incomplete log, or it was a replica that lagged. In this case keep resets "since".
local function keep(till, many)
  if not run or redis.call('HGET', key, 'run') ~= run then
    redis.call('HSET', key, 'run', run or '?', 'since', num(now))
  end
  if many then redis.call('HSETNX', key, 'many', '1') end
  if redis.call('HEXISTS', key, 'many') == 1 then
    redis.call('PERSIST', key)
    return
  end
  local life = math.ceil((till - now) / 1000) + 60000
  if redis.call('PTTL', key) < life then redis.call('PEXPIRE', key, num(life)) end
end
`

// leaseAcquire has the arguments first, count, begin, holder, TTL, mark and past. If no
// slot is free, it returns the time to wait. Otherwise it returns the slot, the token,
// the previous mark, the age and the number of connected replicas.
//
//nolint:dupword // see above
var leaseAcquire = redis.NewScript(leaseCommon + `
local first, count, begin, past = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[7]

local slot, best, wait
local function look(at, r)
  local left = r.till - now
  if left > 0 then
    if not wait or left < wait then wait = left end
  elseif not slot or less(r.mark, best.mark) then
    slot, best = at, r
  end
  return slot and not less(past, best.mark)
end

local function pick()
  for i = 0, count - 1, 200 do
    local slots = {}
    for j = i, math.min(i + 199, count - 1) do slots[#slots + 1] = first + (begin - first + j) % count end
    local values = redis.call('HMGET', key, unpack(slots))
    for j, at in ipairs(slots) do
      if look(at, read(values[j])) then return end
    end
  end
end

pick()
if not slot then
  if count > 1 then keep(now, true) end
  return {num(wait)}
end
local mark, token = best.mark, math.max(best.token + 1, now)
local till = now + ARGV[5] * 1000
write(slot, {holder = ARGV[4], till = till, token = token, mark = less(mark, ARGV[6]) and ARGV[6] or mark})
keep(till, count > 1)
local age = math.max(0, now - redis.call('HGET', key, 'since'))
local links = 0
for _ in string.gmatch(redis.call('INFO', 'replication'), 'state=online') do links = links + 1 end
return {num(slot), num(token), mark, num(age), num(links)}
`)

// leaseRenew has the arguments slot, holder, TTL, token and mark. It returns 1 if the
// holder has the slot.
var leaseRenew = redis.NewScript(leaseCommon + `
local known = redis.call('EXISTS', key) == 1
local r = read(redis.call('HGET', key, ARGV[1]))
if r.holder == '' then r.holder, r.token = ARGV[2], tonumber(ARGV[4]) end -- lost and not acquired since
if r.holder ~= ARGV[2] then return 0 end
r.till = now + ARGV[3] * 1000
if less(r.mark, ARGV[5]) then r.mark = ARGV[5] end
write(ARGV[1], r)
keep(r.till, not known and ARGV[1] ~= '0') -- a name with slot 0 only may have a single slot
return 1
`)

// leaseRelease has the arguments slot, holder and mark. It returns 1 if the holder had
// the slot. A released record gets an invalid holder, which distinguishes it from a lost
// record.
var leaseRelease = redis.NewScript(leaseCommon + `
local r = read(redis.call('HGET', key, ARGV[1]))
if r.holder ~= ARGV[2] then return 0 end
r.holder, r.till, r.mark = '!', math.min(r.till, now), ARGV[3]
write(ARGV[1], r)
return 1
`)
