package redis_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plinthgo/plinth/cacheplugins/redis"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// passwords contains special characters.
var passwords = []string{
	"a b", `"`, "'", "p@ss", "a/b", "50%", "a;b", "a#b", "密码", "a\nb", "a\\b",
	"zq?x", ">zq", " zq ", "\x00zq\xff",
}

// newUser creates a user with all permissions except some commands.
func newUser(tb testing.TB, address, name, password string, rules ...any) {
	tb.Helper()
	admin := clientOf(open(tb, driver.Config{URL: address}))
	words := append([]any{
		"acl", "setuser", name, "reset", "on", ">" + password, "~*", "&*", "+@all",
	}, rules...)
	if err := admin.Do(tb.Context(), words...).Err(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = admin.Do(context.Background(), "acl", "deluser", name).Err() })
}

func TestOpen_Credentials(t *testing.T) {
	address, _ := server(t)
	for i, password := range passwords {
		name := "plinth-test-ü:@" + string(rune('a'+i))
		newUser(t, address, name, password)
		c := parts(t, address)
		c.User, c.Pass = name, password
		user, err := clientOf(open(t, c)).Do(t.Context(), "acl", "whoami").Text()
		if err != nil || user != name {
			t.Errorf("with the password %q the user is %q, %v", password, user, err)
		}
		c.Pass = "zqzq" + password
		wantErrConfig(t, c, "NOSQL_USER, NOSQL_PASS")
	}
}

// wantErrConfig fails the test unless the error of Open wraps ErrConfig and names the
// variables but not the password.
func wantErrConfig(tb testing.TB, c driver.Config, names string) {
	tb.Helper()
	s, err := redis.Driver{}.Open(tb.Context(), c)
	if err == nil {
		_ = s.Close()
		tb.Errorf("Open = nil, want an error about %s", names)
		return
	}
	if !errors.Is(err, driver.ErrConfig) || !strings.Contains(err.Error(), "("+names+")") {
		tb.Errorf("Open = %v, want ErrConfig about %s", err, names)
	}
	if c.Pass != "" && strings.Contains(err.Error(), c.Pass) ||
		strings.Contains(err.Error(), "\n") {
		tb.Errorf("the error %q contains the password or several lines", err)
	}
}

func TestOpen_ErrConfig(t *testing.T) {
	t.Run("wraps permanent errors of the server", func(t *testing.T) {
		address, _ := server(t)
		newUser(t, address, "plinth-test-no-ping", "secret-zq", "-ping")
		for _, tc := range []struct {
			name   string
			change func(c *driver.Config)
			want   string
		}{
			{
				name: "a wrong password", change: func(c *driver.Config) { c.Pass = "wrong-zq" },
				want: "NOSQL_USER, NOSQL_PASS",
			},
			{
				name: "no password", change: func(c *driver.Config) { c.Pass = "" },
				want: "NOSQL_USER, NOSQL_PASS",
			},
			{name: "no password and a database", change: func(c *driver.Config) {
				c.Pass, c.Database = "", 1
			}, want: "NOSQL_USER, NOSQL_PASS"},
			{
				name:   "an unknown user",
				change: func(c *driver.Config) { c.User = "plinth-test-unknown" },
				want:   "NOSQL_USER, NOSQL_PASS",
			},
			{name: "a user without permission", change: func(c *driver.Config) {
				c.User, c.Pass = "plinth-test-no-ping", "secret-zq"
			}, want: "NOSQL_USER"},
			{
				name:   "an unknown database",
				change: func(c *driver.Config) { c.Database = 99999 }, want: "NOSQL_DATABASE",
			},
			{name: "no cluster", change: func(c *driver.Config) {
				c.Source = xenv.Map{"NOSQL_MODE": "cluster"}
			}, want: "NOSQL_MODE"},
			{name: "no sentinel", change: func(c *driver.Config) {
				c.Source = xenv.Map{
					"NOSQL_MODE": "sentinel", "NOSQL_MASTER": "m", "NOSQL_SENTINEL_PASS": c.Pass,
				}
			}, want: "NOSQL_MODE"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				c := parts(t, address)
				tc.change(&c)
				wantErrConfig(t, c, tc.want)
			})
		}
		wantErrConfig(t, driver.Config{URL: strings.Replace(address, "@", "zq@", 1)}, "NOSQL_URL")
	})

	t.Run("wraps permanent errors of Sentinel", func(t *testing.T) {
		for reply, want := range map[string]string{
			"*-1":                              "NOSQL_MASTER", // unknown master
			"-NOAUTH Authentication required.": "NOSQL_SENTINEL_USER, NOSQL_SENTINEL_PASS",
		} {
			f := newFake(t, func(f *fake, words []string) string {
				if words[0] == "sentinel" {
					return reply
				}
				return oldServer(f, words)
			})
			wantErrConfig(t, driver.Config{
				Host:   f.address(),
				Source: xenv.Map{"NOSQL_MODE": "sentinel", "NOSQL_MASTER": "m"},
			}, want)
		}
	})
}

// A nil reply of Sentinel must not be mistaken for a missing key.
func TestSentinel_UnknownMaster(t *testing.T) {
	known := true
	var mu sync.Mutex
	var f *fake
	f = newFake(t, func(_ *fake, words []string) string {
		mu.Lock()
		defer mu.Unlock()
		host, port, _ := net.SplitHostPort(f.address())
		switch {
		case words[0] == "sentinel" && words[1] == "get-master-addr-by-name" && known:
			return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s", len(host), host, len(port), port)
		case words[0] == "sentinel":
			return "*-1"
		case words[0] == "get": // closes the connection; a new one needs the sentinels
			known = false
			return ""
		default:
			return oldServer(f, words)
		}
	})
	s := open(t, driver.Config{
		Host:   f.address(),
		Source: xenv.Map{"NOSQL_MODE": "sentinel", "NOSQL_MASTER": "m"},
	})
	for range 3 {
		if _, ok, err := s.Get(t.Context(), "k"); err == nil || ok {
			t.Errorf("Get = %t, %v; want an error", ok, err)
		}
	}
}

func TestOpen_Unavailable(t *testing.T) {
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	for name, c := range map[string]driver.Config{
		"single": {Host: address},
		"sentinel": {
			Host:   address,
			Source: xenv.Map{"NOSQL_MODE": "sentinel", "NOSQL_MASTER": "m"},
		},
		"cluster": {Host: address, Source: xenv.Map{"NOSQL_MODE": "cluster"}},
		"a loading server": {Host: newFake(t, func(*fake, []string) string {
			return "-LOADING Redis is loading the dataset in memory"
		}).address()},
		"a full server": {Host: newFake(t, func(*fake, []string) string {
			return "-ERR max number of clients reached"
		}).address()},
		"a replica without a master": {Host: newFake(t, func(*fake, []string) string {
			return "-MASTERDOWN Link with MASTER is down"
		}).address()},
		"a closed connection": {
			Host: newFake(t, func(*fake, []string) string { return "" }).address(),
		},
	} {
		start := time.Now()
		s, err := redis.Driver{}.Open(t.Context(), c)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || errors.Is(err, driver.ErrConfig) || time.Since(start) > maxDelay {
			t.Errorf("%s: Open = %v after %s, want an immediate temporary error",
				name, err, time.Since(start))
		}
	}
}

func TestOpen_Context(t *testing.T) {
	address, _ := server(t)
	r, relayURL := newRelay(t, address)
	r.pause()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := redis.Driver{}.Open(ctx, driver.Config{URL: relayURL})
	if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, driver.ErrConfig) ||
		time.Since(start) > 100*time.Millisecond+maxDelay {
		t.Errorf("Open = %v after %s, want the context's error after 100 ms",
			err, time.Since(start))
	}
}

// needed contains the permissions that the documentation lists.
const needed = `+hello +auth +ping +select +get +set +mget +unlink +exists +pttl +pexpire +persist +type +evalsha +eval +scan
+hget +hgetall +hset +hexists +hdel +sadd +smembers +sismember +scard +srem
+lpush +rpush +lrange +lindex +llen +lpop +rpop +lrem +cluster|slots`

func TestOpen_Permissions(t *testing.T) {
	if _, err := os.Stat("../../modules.txt"); err != nil {
		t.Log("skipped: the documentation is not available outside of the repository")
	} else if page, err := os.ReadFile("../../docs/content/base-go/redis.md"); err != nil ||
		!strings.Contains(string(page), needed) {
		t.Errorf("the page (%v) lists different commands", err)
	}
	address, _ := server(t)
	_, prefix := fresh(t)
	rules := []any{"-@all"}
	for rule := range strings.FieldsSeq(needed) {
		rules = append(rules, rule)
	}
	newUser(t, address, "plinth-test-frugal", "secret-zq", rules...)
	c := parts(t, address)
	c.User, c.Pass, c.Database = "plinth-test-frugal", "secret-zq", 1
	s := open(t, c)
	t.Cleanup(func() { _, _ = s.Delete(context.Background(), prefix+"p", prefix+"q") })
	calls := scripted(s, prefix)
	maps.Copy(calls, everyCall(s))
	maps.Copy(calls, plainCalls(s, prefix))
	for name, call := range calls {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// plainCalls returns calls that send one command.
func plainCalls(s driver.Store, prefix string) map[string]func(ctx context.Context) error {
	keep := driver.Write{KeepTTL: true}
	void := func(_ any, err error) error { return err }
	void2 := func(_, _ any, err error) error { return err }
	return map[string]func(ctx context.Context) error{
		"Delete": func(ctx context.Context) error {
			return void(s.Delete(ctx, prefix+"k", prefix+"h"))
		},
		"Exists": func(ctx context.Context) error { return void(s.Exists(ctx, prefix+"k")) },
		"TTL":    func(ctx context.Context) error { return void2(s.TTL(ctx, prefix+"k")) },
		"HashGet": func(ctx context.Context) error {
			return void2(s.HashGet(ctx, prefix+"h", "f"))
		},
		"HashGetAll": func(ctx context.Context) error {
			return void(s.HashGetAll(ctx, prefix+"h"))
		},
		"HashExists": func(ctx context.Context) error {
			return void(s.HashExists(ctx, prefix+"h", "f"))
		},
		"HashRemove": func(ctx context.Context) error {
			return void(s.HashRemove(ctx, prefix+"h", "f"))
		},
		"SetMembers": func(ctx context.Context) error {
			return void(s.SetMembers(ctx, prefix+"s"))
		},
		"SetContains": func(ctx context.Context) error {
			return void(s.SetContains(ctx, prefix+"s", nil))
		},
		"SetCount": func(ctx context.Context) error {
			return void(s.SetCount(ctx, prefix+"s"))
		},
		"SetRemove": func(ctx context.Context) error {
			return void(s.SetRemove(ctx, prefix+"s", nil))
		},
		"ListRange": func(ctx context.Context) error {
			return void(s.ListRange(ctx, prefix+"l", 0, -1))
		},
		"ListIndex": func(ctx context.Context) error {
			return void2(s.ListIndex(ctx, prefix+"l", 0))
		},
		"ListLen": func(ctx context.Context) error { return void(s.ListLen(ctx, prefix+"l")) },
		"ListPop head": func(ctx context.Context) error {
			return void2(s.ListPop(ctx, prefix+"p", driver.Head))
		},
		"ListPop tail": func(ctx context.Context) error {
			return void2(s.ListPop(ctx, prefix+"p", driver.Tail))
		},
		"ListRemove": func(ctx context.Context) error {
			return void(s.ListRemove(ctx, prefix+"l", 0, nil))
		},
		"ListPush": func(ctx context.Context) error {
			return void2(s.ListPush(ctx, prefix+"p", driver.Tail, [][]byte{{1}}, keep))
		},
		"ListPush tail": func(ctx context.Context) error {
			return void2(s.ListPush(ctx, prefix+"q", driver.Tail, [][]byte{{1}}, brief))
		},
		"PERSIST": func(ctx context.Context) error {
			return void2(s.ListPush(ctx, prefix+"q", driver.Tail, [][]byte{{1}}, driver.Write{}))
		},
		"GetTTL": func(ctx context.Context) error {
			_, _, _, err := s.(driver.Invalidator).GetTTL(ctx, prefix+"k")
			return err
		},
	}
}
