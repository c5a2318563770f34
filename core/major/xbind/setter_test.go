package xbind_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"reflect"
	"testing"
	"time"

	"github.com/gin-gonic/gin/binding"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xbind"
)

type (
	namedString string
	namedInt    int16
)

// TestQuickSetter compares the setters with the form mapping of gin, for random values.
func TestQuickSetter(t *testing.T) {
	compare[string](t)
	compare[namedString](t)
	compare[json.Number](t)
	compare[int](t)
	compare[int8](t)
	compare[namedInt](t)
	compare[int32](t)
	compare[int64](t)
	compare[time.Month](t)
	compare[time.Duration](t)
	compare[xsnowflake.SnowflakeID](t)
	compare[mark](t)
	compare[*mark](t)
	compare[*int](t)
	compare[**string](t)
	compare[bool](t)
	compare[uint16](t)
	compare[float32](t)
	compare[time.Time](t)
	compare[[]string](t)
	compare[[]int8](t)
	compare[[]*mark](t)
	compare[[2]int](t)
}

// compare binds a parameter of type T with Request and with gin.
func compare[T any](t *testing.T) {
	t.Helper()
	type values struct {
		Value   T `form:"v"`
		Default T `form:"d,default=1"`
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		form := url.Values{}
		for _, name := range []string{"v", "d"} {
			for range random.IntN(4) {
				form.Add(name, randomValue(random))
			}
		}
		want := new(values)
		err := binding.MapFormWithTag(want, form, "form")
		c := input{query: form.Encode()}.context()
		got := xbind.Bind[values](c, nil).Request()
		if (err == nil) != (got != nil) {
			t.Errorf("%v %q: %v, gin %v", reflect.TypeFor[T](), form, c.Errors, err)
			return
		}
		opts := cmp.Options{cmp.AllowUnexported(mark{}), cmpopts.EquateNaNs()}
		if err == nil && !cmp.Equal(got, want, opts) {
			t.Errorf("%v %q: %+v, gin %+v", reflect.TypeFor[T](), form, got, want)
			return
		}
	}
}

// samples contains values that are special for a type.
var samples = [...]string{
	"", " ", "0", "1", "-1", "+1", " 1", "1 ", "007", "1_000", "0x10", "1e3", "1.5", "-0", "127", "128",
	"-128", "-129", "32767", "32768", "2147483648", "9223372036854775807", "9223372036854775808",
	"18446744073709551616", "NaN", "true", "T", "on", "1h", "1h2", "\u00a01", "\t1\n", "\x00",
	"\xff", "ſ", "bad", "2024-02-29", "2024-02-29T10:00:00Z", "1,2", "null", `"1"`, "١",
}

func randomValue(random *rand.Rand) string {
	if random.IntN(4) > 0 {
		return samples[random.IntN(len(samples))]
	}
	b := make([]byte, random.IntN(4))
	for i := range b {
		b[i] = "0123456789+- .x"[random.IntN(15)]
	}
	return string(b)
}
