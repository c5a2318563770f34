package redis

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// An update of a collection is one script about one key. Its words are the condition, the
// TTL in milliseconds (0 is for ever), whether a key that exists keeps its expiry ("1"),
// and then those of the command. It returns a count, or -1 where the condition does not
// hold.

// beginning looks what the key holds, before anything is changed.
const beginning = `
local key, condition, ttl, keep = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local kind = redis.call('TYPE', key).ok
local had = kind ~= 'none'
if had and kind ~= KIND then
  return {err = 'WRONGTYPE Operation against a key holding the wrong kind of value'}
end
local function send(command, first, last)
  local sum, answer = 0, 0
  for i = first, last, 1000 do -- Lua bounds the words of a call
    answer = redis.call(command, key, unpack(ARGV, i, math.min(i + 999, last)))
    sum = sum + answer
  end
  return sum, answer
end
`

// ofKey is a condition about the key.
const ofKey = `
if (condition == '1' and had) or (condition == '2' and not had) then return -1 end
`

// life gives the key its expiry.
const life = `
if had and keep == '1' then -- as it is
elseif ttl ~= '0' then redis.call('PEXPIRE', key, ttl)
elseif had then redis.call('PERSIST', key) end
`

var (
	// setKeeping sets a value and a TTL, or keeps the expiry that there is.
	setKeeping = redis.NewScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('SET', KEYS[1], ARGV[1], 'KEEPTTL')
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return 1`)

	setAdd = redis.NewScript(`local KIND = 'set'` + beginning + ofKey +
		`local n = send('SADD', 4, #ARGV)` + life + `return n`)
	pushHead = redis.NewScript(`local KIND = 'list'` + beginning + ofKey +
		`local _, n = send('LPUSH', 4, #ARGV)` + life + `return n`)
	pushTail = redis.NewScript(`local KIND = 'list'` + beginning + ofKey +
		`local _, n = send('RPUSH', 4, #ARGV)` + life + `return n`)
	hashWrite = redis.NewScript(`local KIND = 'hash'` + beginning + `
local last = 4 + 2 * tonumber(ARGV[4]) -- of the fields to set; those to remove follow
for i = 5, condition == '0' and 0 or last, 2 do
  local there = redis.call('HEXISTS', key, ARGV[i]) == 1
  if there == (condition == '1') then return -1 end -- one is enough
end
send('HSET', 5, last)
send('HDEL', last + 1, #ARGV)` + life + `return 1`)
)

// run runs a script about one key, whose answer is a number. The server keeps it; where
// it has forgotten, it is sent again.
func (s *store) run(
	ctx context.Context, script *redis.Script, key string, words ...any,
) (n int, err error) {
	err = s.within(ctx, func(ctx context.Context) error {
		n, err = script.Run(ctx, s.client, []string{key}, words...).Int()
		return err
	})
	return n, s.failed(ctx, err)
}

// conditions are those of the scripts.
var conditions = [...]string{driver.Always: "0", driver.IfAbsent: "1", driver.IfPresent: "2"}

// rules are the first words of an update.
func rules(w driver.Write, room int) []any {
	keep := "0"
	if w.Keep {
		keep = "1"
	}
	return append(make([]any, 0, 3+room), conditions[w.If], millis(w.TTL), keep)
}

// simple reports whether a command without more does what the write wants: it has no
// condition, and leaves the expiry.
func simple(w driver.Write) bool { return w == driver.Write{Keep: true} }

// update runs a script for a write, or the command where that is all.
func (s *store) update(
	ctx context.Context, command string, script *redis.Script, key string, values [][]byte,
	w driver.Write,
) (n int, stored bool, err error) {
	if simple(w) && len(values) > 0 {
		n, err = s.count(ctx, appendAll([]any{command, key}, values)...)
		return n, err == nil, err
	}
	n, err = s.run(ctx, script, key, appendAll(rules(w, len(values)), values)...)
	return max(n, 0), err == nil && n >= 0, err
}

func appendAll(words []any, values [][]byte) []any {
	for _, v := range values {
		words = append(words, v)
	}
	return words
}
