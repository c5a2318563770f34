package cachetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// kind is the kind of a key's value.
type kind string

const (
	plain   kind = "plain"
	hash    kind = "hash"
	set     kind = "set"
	list    kind = "list"
	anyKind kind = "" // also for methods that accept any kind
)

var kinds = []kind{plain, hash, set, list}

// call is one method of a view or of the manager.
type call struct {
	name string
	on   kind // the required kind of the key
	run  func(ctx context.Context, key string) error

	// manyTrips marks a call with several round trips, and otherErrors a call that does
	// not return errors of package xcache.
	manyTrips, otherErrors bool
}

// key returns the key that checks use for the call.
func (c call) key() string {
	if c.on == anyKind {
		return "some"
	}
	return string(c.on)
}

// calls returns calls of all methods in all variants that the backend supports.
func calls(m *xcache.Manager) []call {
	return slices.Concat(keyCalls(m), hashCalls(m), setCalls(m), listCalls(m), managerCalls(m))
}

func keyCalls(m *xcache.Manager) []call {
	users, items := xcache.KeyCacheOf[string, user](m), xcache.KeyCacheOf[string, item](m)
	shared := xcache.KeyCacheOf[string, item](m, xcache.WithImmutable())
	known := xcache.KeyCacheOf[string, user](m, xcache.WithNegativeTTL(time.Minute))
	set := func(opts ...xcache.Option) func(ctx context.Context, key string) error {
		return func(ctx context.Context, key string) error {
			return users.Set(ctx, key, &user{ID: 1}, opts...)
		}
	}
	load := func(context.Context) (*user, error) { return &user{ID: 1}, nil }
	return []call{
		{name: "Key.Get", on: plain, run: func(ctx context.Context, key string) error {
			_, _, err := users.Get(ctx, key)
			return err
		}},
		{
			name: "Key.Get of references", on: plain,
			run: func(ctx context.Context, key string) error {
				_, _, err := items.Get(ctx, key)
				return err
			},
		},
		{name: "Key.Get immutable", on: plain, run: func(ctx context.Context, key string) error {
			_, _, err := shared.Get(ctx, key)
			return err
		}},
		{name: "Key.Set", run: set()},
		{name: "Key.Set of references", run: func(ctx context.Context, key string) error {
			return items.Set(ctx, key, &item{Tags: []string{"a"}})
		}},
		{name: "Key.Set TTL", run: set(xcache.WithTTL(time.Minute))},
		{name: "Key.Set NX TTL", run: set(xcache.WithNX(), xcache.WithTTL(time.Minute))},
		{name: "Key.Set XX TTL", run: set(xcache.WithXX(), xcache.WithTTL(time.Minute))},
		{name: "Key.Set KeepTTL TTL", run: set(xcache.WithKeepTTL(), xcache.WithTTL(time.Minute))},
		{
			name: "Key.Set XX KeepTTL TTL",
			run:  set(xcache.WithXX(), xcache.WithKeepTTL(), xcache.WithTTL(time.Minute)),
		},
		{name: "Key.Exists", run: func(ctx context.Context, key string) error {
			_, err := users.Exists(ctx, key)
			return err
		}},
		{name: "Key.TTL", run: func(ctx context.Context, key string) error {
			_, _, err := users.TTL(ctx, key)
			return err
		}},
		{name: "Key.GetMany", run: func(ctx context.Context, key string) error {
			_, err := users.GetMany(ctx, []string{key, "b"})
			return err
		}},
		{name: "Key.SetMany", run: func(ctx context.Context, key string) error {
			return users.SetMany(ctx, map[string]user{key: {}, "b": {}})
		}},
		{name: "Key.SetMany KeepTTL TTL", run: func(ctx context.Context, key string) error {
			return users.SetMany(ctx, map[string]user{key: {}, "b": {}}, xcache.WithKeepTTL(),
				xcache.WithTTL(time.Minute))
		}},
		{name: "Key.Delete", run: func(ctx context.Context, key string) error {
			return users.Delete(ctx, key)
		}},
		{
			name: "Key.Delete negative",
			run:  func(ctx context.Context, key string) error { return known.Delete(ctx, key) },
		},
		{name: "Key.DeleteMany", run: func(ctx context.Context, key string) error {
			_, err := users.DeleteMany(ctx, []string{key, "b"})
			return err
		}},
		{
			name: "Key.GetOrLoad", on: plain, manyTrips: true,
			run: func(ctx context.Context, key string) error {
				_, _, err := known.GetOrLoad(ctx, key, load)
				return err
			},
		},
	}
}

func hashCalls(m *xcache.Manager) []call {
	c := xcache.HashCacheOf[string, string, int, profile](m)
	set := func(opts ...xcache.Option) func(ctx context.Context, key string) error {
		return func(ctx context.Context, key string) error {
			return c.Set(ctx, key, "age", new(1), opts...)
		}
	}
	return []call{
		{name: "Hash.Get", on: hash, run: func(ctx context.Context, key string) error {
			_, _, err := c.Get(ctx, key, "age")
			return err
		}},
		{name: "Hash.Set", on: hash, run: set()},
		{name: "Hash.Set TTL", on: hash, run: set(xcache.WithTTL(time.Minute))},
		{name: "Hash.Set NX TTL", on: hash, run: set(xcache.WithNX(), xcache.WithTTL(time.Minute))},
		{name: "Hash.Set XX TTL", on: hash, run: set(xcache.WithXX(), xcache.WithTTL(time.Minute))},
		{
			name: "Hash.Set NoSlide TTL", on: hash,
			run: set(xcache.WithNoSlide(), xcache.WithTTL(time.Minute)),
		},
		{name: "Hash.GetAll", on: hash, run: func(ctx context.Context, key string) error {
			_, err := c.GetAll(ctx, key)
			return err
		}},
		{name: "Hash.SetAll", on: hash, run: func(ctx context.Context, key string) error {
			return c.SetAll(ctx, key, map[string]int{"age": 1, "id": 2},
				xcache.WithTTL(time.Minute))
		}},
		{name: "Hash.GetAllStruct", on: hash, run: func(ctx context.Context, key string) error {
			_, _, err := c.GetAllStruct(ctx, key)
			return err
		}},
		{name: "Hash.SetAllStruct", on: hash, run: func(ctx context.Context, key string) error {
			return xcache.HashCacheOf[string, string, int, ages](m).SetAllStruct(ctx, key,
				&ages{Age: 1})
		}},
		{name: "Hash.Exists", on: hash, run: func(ctx context.Context, key string) error {
			_, err := c.Exists(ctx, key, "age")
			return err
		}},
		{name: "Hash.Remove", on: hash, run: func(ctx context.Context, key string) error {
			_, err := c.Remove(ctx, key, "none", "neither")
			return err
		}},
		{name: "Hash.TTL", run: func(ctx context.Context, key string) error {
			_, _, err := c.TTL(ctx, key)
			return err
		}},
		{name: "Hash.Delete", run: func(ctx context.Context, key string) error {
			return c.Delete(ctx, key)
		}},
	}
}

// ages is a struct with numeric fields only.
type ages struct {
	Age int `cache:"age"`
}

func setCalls(m *xcache.Manager) []call {
	c := xcache.SetCacheOf[string, string](m)
	add := func(opts ...xcache.Option) func(ctx context.Context, key string) error {
		return func(ctx context.Context, key string) error {
			_, err := c.Add(ctx, key, []string{"a", "b"}, opts...)
			return err
		}
	}
	return []call{
		{name: "Set.Add", on: set, run: add()},
		{name: "Set.Add TTL", on: set, run: add(xcache.WithTTL(time.Minute))},
		{name: "Set.Add XX TTL", on: set, run: add(xcache.WithXX(), xcache.WithTTL(time.Minute))},
		{
			name: "Set.Add NoSlide TTL", on: set,
			run: add(xcache.WithNoSlide(), xcache.WithTTL(time.Minute)),
		},
		{name: "Set.Members", on: set, run: func(ctx context.Context, key string) error {
			_, err := c.Members(ctx, key)
			return err
		}},
		{name: "Set.IsMember", on: set, run: func(ctx context.Context, key string) error {
			_, err := c.IsMember(ctx, key, "a")
			return err
		}},
		{name: "Set.Count", on: set, run: func(ctx context.Context, key string) error {
			_, err := c.Count(ctx, key)
			return err
		}},
		{name: "Set.Remove", on: set, run: func(ctx context.Context, key string) error {
			_, err := c.Remove(ctx, key, "none", "neither")
			return err
		}},
		{name: "Set.TTL", run: func(ctx context.Context, key string) error {
			_, _, err := c.TTL(ctx, key)
			return err
		}},
		{name: "Set.Delete", run: func(ctx context.Context, key string) error {
			return c.Delete(ctx, key)
		}},
	}
}

func listCalls(m *xcache.Manager) []call {
	c := xcache.ListCacheOf[string, string](m)
	push := func(push func(context.Context, string, []string, ...xcache.Option) (int, error),
		opts ...xcache.Option,
	) func(ctx context.Context, key string) error {
		return func(ctx context.Context, key string) error {
			_, err := push(ctx, key, []string{"a", "b"}, opts...)
			return err
		}
	}
	return []call{
		{name: "List.Prepend", on: list, run: push(c.Prepend)},
		{name: "List.Append", on: list, run: push(c.Append)},
		{name: "List.Append TTL", on: list, run: push(c.Append, xcache.WithTTL(time.Minute))},
		{
			name: "List.Prepend XX TTL", on: list,
			run: push(c.Prepend, xcache.WithXX(), xcache.WithTTL(time.Minute)),
		},
		{
			name: "List.Append NoSlide TTL", on: list,
			run: push(c.Append, xcache.WithNoSlide(), xcache.WithTTL(time.Minute)),
		},
		{name: "List.Range", on: list, run: func(ctx context.Context, key string) error {
			_, err := c.Range(ctx, key, 0, -1)
			return err
		}},
		{name: "List.Index", on: list, run: func(ctx context.Context, key string) error {
			_, _, err := c.Index(ctx, key, 0)
			return err
		}},
		{name: "List.Len", on: list, run: func(ctx context.Context, key string) error {
			_, err := c.Len(ctx, key)
			return err
		}},
		{name: "List.Pop", on: list, run: func(ctx context.Context, key string) error {
			_, _, err := c.Pop(ctx, key)
			return err
		}},
		{name: "List.PopLast", on: list, run: func(ctx context.Context, key string) error {
			_, _, err := c.PopLast(ctx, key)
			return err
		}},
		{name: "List.Remove", on: list, run: func(ctx context.Context, key string) error {
			_, err := c.Remove(ctx, key, 1, "none")
			return err
		}},
		{name: "List.TTL", run: func(ctx context.Context, key string) error {
			_, _, err := c.TTL(ctx, key)
			return err
		}},
		{name: "List.Delete", run: func(ctx context.Context, key string) error {
			return c.Delete(ctx, key)
		}},
	}
}

// managerCalls returns calls without a key and calls of optional interfaces.
func managerCalls(m *xcache.Manager) []call {
	all := []call{{
		name: "CheckHealth",
		run:  func(ctx context.Context, _ string) error { return m.CheckHealth(ctx) },
	}}
	walked := xcache.WithKeyPrefix("walked:")
	if _, ok := m.Store().(driver.Scanner); ok {
		scan := func(name string, run func(ctx context.Context) error) call {
			withoutKey := func(ctx context.Context, _ string) error { return run(ctx) }
			return call{name: name, manyTrips: true, run: withoutKey}
		}
		all = append(all,
			scan("Key.Keys", func(ctx context.Context) error {
				return walk(xcache.KeyCacheOf[string, int](m, walked).Keys(ctx))
			}),
			scan("Key.Clear", func(ctx context.Context) error {
				_, err := xcache.KeyCacheOf[string, int](m, walked).Clear(ctx)
				return err
			}),
			scan("Hash.Clear", func(ctx context.Context) error {
				_, err := xcache.HashCacheOf[string, string, int, struct{}](m, walked).Clear(ctx)
				return err
			}),
			scan("Set.Keys", func(ctx context.Context) error {
				return walk(xcache.SetCacheOf[string, int](m, walked).Keys(ctx))
			}),
			scan("List.Keys", func(ctx context.Context) error {
				return walk(xcache.ListCacheOf[string, int](m, walked).Keys(ctx))
			}),
		)
	}
	if _, ok := m.Store().(driver.Leaser); ok {
		all = append(all, call{
			name: "Lease", manyTrips: true, otherErrors: true,
			run: func(ctx context.Context, _ string) error {
				lease, err := m.Lease(ctx, fmt.Sprint("job-", time.Now().UnixNano()), time.Minute)
				if err != nil {
					return err
				}
				return lease.Release(ctx)
			},
		})
	}
	return all
}

// walk iterates over all keys and returns the first error.
func walk[K comparable](keys func(yield func(K, error) bool)) error {
	for _, err := range keys {
		if err != nil {
			return err
		}
	}
	return nil
}

// fill writes a value of kind k to key.
func fill(t testing.TB, m *xcache.Manager, key string, k kind) {
	t.Helper()
	var err error
	switch k {
	case hash:
		err = xcache.HashCacheOf[string, string, int, struct{}](m).SetAll(t.Context(), key,
			map[string]int{"age": 1, "id": 2})
	case set:
		_, err = xcache.SetCacheOf[string, string](m).Add(t.Context(), key, []string{"a", "b"})
	case list:
		_, err = xcache.ListCacheOf[string, string](m).Append(t.Context(), key,
			[]string{"a", "b", "a"})
	default:
		err = xcache.KeyCacheOf[string, user](m).Set(t.Context(), key, &user{ID: 1})
	}
	must(t, err)
}

// fillAll writes the values that all calls need.
func fillAll(t testing.TB, m *xcache.Manager) {
	t.Helper()
	for _, k := range append(slices.Clone(kinds), anyKind) {
		fill(t, m, call{on: k}.key(), k)
	}
}

// content returns the value of key as a string.
func content(t testing.TB, m *xcache.Manager, key string, k kind) string {
	t.Helper()
	var value any
	var err error
	switch k {
	case hash:
		value, err = xcache.HashCacheOf[string, string, int, struct{}](m).GetAll(t.Context(), key)
	case set:
		var members []string
		members, err = xcache.SetCacheOf[string, string](m).Members(t.Context(), key)
		slices.Sort(members)
		value = members
	case list:
		value, err = xcache.ListCacheOf[string, string](m).Range(t.Context(), key, 0, -1)
	default:
		var v *user
		if v, _, err = xcache.KeyCacheOf[string, user](m).Get(t.Context(), key); v != nil {
			value = *v
		}
	}
	must(t, err)
	return fmt.Sprint(value)
}
