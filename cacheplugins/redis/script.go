package redis

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// Each update of a collection is one script for one key. Its arguments are the condition,
// the TTL in milliseconds (0 means no expiry), "1" if the expiry of an existing key is
// retained, and the arguments of the command. It returns a count, or -1 if the condition
// is not met.

// prologue checks the type of the key before any change.
const prologue = `
local key, condition, ttl, keep = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local kind = redis.call('TYPE', key).ok
local had = kind ~= 'none'
if had and kind ~= KIND then
  return {err = 'WRONGTYPE Operation against a key holding the wrong kind of value'}
end
local function send(command, first, last)
  local sum, answer = 0, 0
  for i = first, last, 1000 do -- Lua limits the arguments of a call
    answer = redis.call(command, key, unpack(ARGV, i, math.min(i + 999, last)))
    sum = sum + answer
  end
  return sum, answer
end
`

// keyCondition checks a condition on the key.
const keyCondition = `
if (condition == '1' and had) or (condition == '2' and not had) then return -1 end
`

// setExpiry sets the expiry of the key.
const setExpiry = `
if had and keep == '1' then -- unchanged
elseif ttl ~= '0' then redis.call('PEXPIRE', key, ttl)
elseif had then redis.call('PERSIST', key) end
`

var (
	// setKeeping sets a value. It retains the expiry of an existing key and sets the TTL
	// of a new key.
	setKeeping = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1`)

	setAdd = redis.NewScript(`local KIND = 'set'` + prologue + keyCondition +
		`local n = send('SADD', 4, #ARGV)` + setExpiry + `return n`)
	pushHead = redis.NewScript(`local KIND = 'list'` + prologue + keyCondition +
		`local _, n = send('LPUSH', 4, #ARGV)` + setExpiry + `return n`)
	pushTail = redis.NewScript(`local KIND = 'list'` + prologue + keyCondition +
		`local _, n = send('RPUSH', 4, #ARGV)` + setExpiry + `return n`)
	hashWrite = redis.NewScript(`local KIND = 'hash'` + prologue + `
local last = 4 + 2 * tonumber(ARGV[4]) -- last field to set; the fields to remove follow
for i = 5, condition == '0' and 0 or last, 2 do
  local there = redis.call('HEXISTS', key, ARGV[i]) == 1
  if there == (condition == '1') then return -1 end -- one mismatch is enough
end
send('HSET', 5, last)
send('HDEL', last + 1, #ARGV)` + setExpiry + `return 1`)
)

// run runs a script with an integer reply for one key. If the server has not cached the
// script, run sends it.
func (s *store) run(
	ctx context.Context, script *redis.Script, key string, args ...any,
) (n int, err error) {
	err = s.within(ctx, func(ctx context.Context) error {
		n, err = script.Run(ctx, s.client, []string{key}, args...).Int()
		return err
	})
	return n, s.failed(ctx, err)
}

// conditions are the first arguments of the scripts.
var conditions = [...]string{driver.Always: "0", driver.IfAbsent: "1", driver.IfPresent: "2"}

// updateArgs returns the common arguments of an update.
func updateArgs(w driver.Write, room int) []any {
	keep := "0"
	if w.KeepTTL {
		keep = "1"
	}
	return append(make([]any, 0, 3+room), conditions[w.If], millis(w.TTL), keep)
}

// simple reports whether a single command is sufficient for a write: it has no condition
// and retains the expiry.
func simple(w driver.Write) bool { return w == driver.Write{KeepTTL: true} }

// update runs the script of a write, or only the command if that is sufficient.
func (s *store) update(
	ctx context.Context, command string, script *redis.Script, key string, values [][]byte,
	w driver.Write,
) (n int, stored bool, err error) {
	if simple(w) && len(values) > 0 {
		n, err = s.count(ctx, appendAll([]any{command, key}, values)...)
		return n, err == nil, err
	}
	n, err = s.run(ctx, script, key, appendAll(updateArgs(w, len(values)), values)...)
	return max(n, 0), err == nil && n >= 0, err
}

func appendAll(args []any, values [][]byte) []any {
	for _, v := range values {
		args = append(args, v)
	}
	return args
}
