package xcache_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xcache"
	"github.com/plinthgo/plinth/core/major/xcache/driver"
	"github.com/plinthgo/plinth/core/major/xcache/driver/drivertest"
)

// objectStore is an in-process store that records which entries are objects.
type objectStore struct {
	*drivertest.MapStore
	objects map[string]*driver.Entry
}

func newObjectStore() *objectStore {
	return &objectStore{drivertest.NewMapStore(nil), map[string]*driver.Entry{}}
}

func (s *objectStore) GetObject(ctx context.Context, key string) (*driver.Entry, bool, error) {
	if o, ok := s.objects[key]; ok {
		return o, true, nil
	}
	data, ok, err := s.Get(ctx, key)
	return &driver.Entry{Object: driver.Bytes(data)}, ok, err
}

func (s *objectStore) SetObject(
	_ context.Context, key string, o *driver.Entry, _ driver.Write,
) (bool, error) {
	s.objects[key] = o
	return true, nil
}

// isObject sets v and reports whether the store received an object.
func isObject[V any](t *testing.T, v V, opts ...xcache.ManagerOption) bool {
	t.Helper()
	s := newObjectStore()
	c := xcache.KeyCacheOf[string, V](managerOf(t, s, opts...))
	if err := c.Set(t.Context(), "k", &v); err != nil {
		t.Fatal(err)
	}
	return len(s.objects) == 1
}

type (
	flat struct {
		ID   xsnowflake.SnowflakeID `json:"id"`
		Name string                 `json:"name,omitempty"`
		At   [2]inner
	}
	inner  struct{ X, Y float32 }
	hidden struct {
		Pass string `json:"-"`
	}
	private  struct{ A, b int }
	embedded struct{ inner }
	twoNames struct {
		A int `json:"B"`
		B int
	}
	number struct{ N json.Number }
	status string
)

func (private) use() int { return private{}.b }

func TestKeyCache_Set_Object(t *testing.T) {
	_ = private{}.use()
	for _, tc := range []struct {
		name string
		got  bool
		want bool
	}{
		{"string", isObject(t, "a\xff"), true},
		{"named string", isObject(t, status("a")), true},
		{"int", isObject(t, 1), true},
		{"bool", isObject(t, true), true},
		{"float", isObject(t, 1.5), true},
		{"id", isObject(t, xsnowflake.SnowflakeID(1)), true},
		{"flat struct", isObject(t, flat{ID: 1, Name: "Ada"}), true},
		{"array", isObject(t, [3]inner{}), true},
		{"bytes", isObject(t, []byte("a")), false},
		{"slice", isObject(t, []int{1}), false},
		{"map", isObject(t, map[string]int{}), false},
		{"pointer", isObject(t, new(1)), false},
		{"struct with a slice", isObject(t, struct{ S []int }{}), false},
		{"struct with an interface", isObject(t, struct{ S any }{}), false},
		{"time, which JSON truncates", isObject(t, time.Now()), false},
		{"struct with a time", isObject(t, struct{ T time.Time }{}), false},
		{"field that JSON omits", isObject(t, hidden{"p"}), false},
		{"unexported field", isObject(t, private{}), false},
		{"embedded struct", isObject(t, embedded{}), false},
		{"duplicate field name", isObject(t, twoNames{}), false},
		{"json.Number", isObject(t, number{"1"}), false},
		{"invalid UTF-8", isObject(t, flat{Name: "a\xff"}), false},
		{"flat struct, another codec", isObject(t, flat{}, xcache.WithCodec(gobCodec{})), false},
		{"string, another codec", isObject(t, "a", xcache.WithCodec(gobCodec{})), true},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: stored as an object = %t, want %t", tc.name, tc.got, tc.want)
		}
	}
}

func TestKeyCache_Set_Unencodable(t *testing.T) {
	s := newObjectStore()
	c := xcache.KeyCacheOf[string, flat](managerOf(t, s))
	for name, v := range map[string]flat{
		"infinity": {At: [2]inner{{}, {Y: float32(math.Inf(-1))}}},
		"NaN":      {At: [2]inner{{X: float32(math.NaN())}, {}}},
	} {
		if err := c.Set(t.Context(), "k", &v); !errors.Is(err, xcache.ErrEncode) ||
			len(s.objects) > 0 {
			t.Errorf("Set with %s = %v, want ErrEncode and an empty store", name, err)
		}
	}
}

// gobCodec is a codec other than JSON.
type gobCodec struct{}

func (gobCodec) Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

func (gobCodec) Decode(data []byte, v any) error {
	return gob.NewDecoder(bytes.NewReader(data)).Decode(v)
}

func TestWithCodec(t *testing.T) {
	store := drivertest.NewMapStore(nil)
	m := managerOf(t, store, xcache.WithCodec(gobCodec{}))
	c := xcache.KeyCacheOf[string, flat](m)
	want := flat{ID: 5, Name: "größe"}
	if err := c.Set(t.Context(), "k", &want); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := c.Get(t.Context(), "k"); err != nil || !ok || *got != want {
		t.Errorf("Get = %v, %t, %v; want %v", got, ok, err, want)
	}
	if data, _, _ := store.Get(t.Context(), "k"); json.Valid(data) {
		t.Errorf("the store contains JSON: %s", data)
	}
	if err := xcache.KeyCacheOf[string, int](m).Set(t.Context(), "n", new(42)); err != nil {
		t.Fatal(err)
	}
	if data, _, _ := store.Get(t.Context(), "n"); string(data) != "42" {
		t.Errorf("the store contains %q, want 42", data)
	}
}

func TestErrDecode(t *testing.T) {
	m := newManager(t)
	err := xcache.KeyCacheOf[string, string](m).Set(t.Context(), "k", new("hunter2"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = xcache.KeyCacheOf[string, int](m).Get(t.Context(), "k")
	if !errors.Is(err, xcache.ErrDecode) || bytes.Contains([]byte(err.Error()), []byte("hunter2")) {
		t.Errorf("Get = %v, want ErrDecode without the value", err)
	}
	got, ok, err := xcache.KeyCacheOf[string, int](m).GetOrLoad(t.Context(), "k",
		func(context.Context) (*int, error) { return new(3), nil })
	if err != nil || !ok || *got != 3 {
		t.Errorf("GetOrLoad = %v, %t, %v; want the loaded value", got, ok, err)
	}
	if got, ok, err := xcache.KeyCacheOf[string, int](m).Get(t.Context(), "k"); err != nil || !ok ||
		*got != 3 {
		t.Errorf("Get = %v, %t, %v; want the loaded value", got, ok, err)
	}
}
