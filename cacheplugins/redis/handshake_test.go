package redis_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// New connections must send only commands that every server supports.
func TestOpen_Handshake(t *testing.T) {
	f := newFake(t, oldServer)
	s := open(t, driver.Config{Host: f.address(), User: "u", Pass: "p", Database: 3})
	want := []string{"hello 3 auth u p", "auth u p", "select 3", "ping"}
	if got := f.commands(); !slices.Equal(got, want) {
		t.Errorf("commands = %q, want %q", got, want)
	}
	_, err := s.Set(t.Context(), "key-zq", []byte("value-zq"), driver.Write{})
	if err == nil || strings.Contains(err.Error(), "zq") ||
		!strings.Contains(err.Error(), "unknown command") {
		t.Errorf("Set = %v, want an error without the key and the value", err)
	}
}

func TestStore_Retry(t *testing.T) {
	t.Run("does not resend a command after a lost reply", func(t *testing.T) {
		for _, mode := range []string{"single", "cluster"} {
			for name, call := range map[string]func(ctx context.Context, s driver.Store) error{
				"evalsha": func(ctx context.Context, s driver.Store) error {
					_, _, err := s.ListPush(ctx, "k", driver.Head, [][]byte{{1}}, driver.Write{})
					return err
				},
				"lpop": func(ctx context.Context, s driver.Store) error {
					_, _, err := s.ListPop(ctx, "k", driver.Head)
					return err
				},
				"lpush": func(ctx context.Context, s driver.Store) error {
					_, _, err := s.ListPush(ctx, "k",
						driver.Head, [][]byte{{1}}, driver.Write{KeepTTL: true})
					return err
				},
			} {
				f := newFake(t, func(f *fake, words []string) string {
					switch {
					case words[0] == name:
						return ""
					case words[0] == "cluster" && words[1] == "slots":
						return f.slots()
					default:
						return oldServer(f, words)
					}
				})
				s := open(t, driver.Config{Host: f.address(), Source: xenv.Map{"NOSQL_MODE": mode}})
				err := call(t.Context(), s)
				if err == nil || f.count(name) != 1 {
					t.Errorf("%s, %s: %v after %d commands, want an error and 1",
						mode, name, err, f.count(name))
				}
			}
		}
	})

	// While slots migrate, servers may redirect a client back and forth.
	t.Run("returns ErrUnavailable for endless redirects", func(t *testing.T) {
		for _, redirect := range []string{"MOVED", "ASK"} {
			f := newFake(t, func(f *fake, words []string) string {
				switch {
				case words[0] == "lpop":
					return "-" + redirect + " 1 " + f.address()
				case words[0] == "asking":
					return "+OK"
				case words[0] == "cluster" && words[1] == "slots":
					return f.slots()
				default:
					return oldServer(f, words)
				}
			})
			s := open(t, driver.Config{
				Host:   f.address(),
				Source: xenv.Map{"NOSQL_MODE": "cluster"},
			})
			if _, _, err := s.ListPop(t.Context(), "k",
				driver.Head); !errors.Is(err, driver.ErrUnavailable) {
				t.Errorf("%s: ListPop = %v, want ErrUnavailable", redirect, err)
			}
		}
	})

	// A redirected command was not executed.
	t.Run("follows a redirect", func(t *testing.T) {
		redirects := 0
		f := newFake(t, func(f *fake, words []string) string {
			switch {
			case words[0] == "lpop" && redirects == 0:
				redirects++
				return "-MOVED 1 " + f.address()
			case words[0] == "lpop":
				return "$1\r\nv"
			case words[0] == "cluster" && words[1] == "slots":
				return f.slots()
			default:
				return oldServer(f, words)
			}
		})
		s := open(t, driver.Config{Host: f.address(), Source: xenv.Map{"NOSQL_MODE": "cluster"}})
		value, ok, err := s.ListPop(t.Context(), "k", driver.Head)
		if err != nil || !ok || string(value) != "v" {
			t.Errorf("ListPop = %q, %t, %v; want v", value, ok, err)
		}
	})
}
