package xbase_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"math/rand"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/plinthgo/plinth/core/common/xbase"
)

type (
	plain struct {
		Text    string `json:"text"`
		Bool    bool   `json:"bool"`
		Int     int    `json:"int"`
		Small   int8   `json:"small,omitempty"`
		Big     int64  `json:"big,string"`
		Uint    uint   `json:"uint,string,omitempty"`
		Byte    byte   `json:"byte"`
		Unnamed string
		Hidden  string `json:"-"`
		Both    bool   `json:",omitempty,string"`
	}
	numbers struct {
		Float  float64 `json:"float"`
		Short  float32 `json:"short,omitempty"`
		Quoted float64 `json:",string"`
	}
	withPrivate struct {
		private string
		Public  string
	}
	pointers struct {
		Text   *string `json:"text"`
		None   *int    `json:"none,omitempty"`
		Deep   **bool  `json:"deep"`
		Plain  *plain  `json:"plain,omitempty"`
		Quoted *int    `json:"quoted,string"`
	}
	times struct {
		At    time.Time  `json:"at"`
		Maybe *time.Time `json:"maybe"`
		None  *time.Time `json:"none,omitempty"`
		All   []time.Time
	}
	lists struct {
		Strings []string          `json:"strings"`
		Few     []int             `json:"few,omitempty"`
		Plain   []plain           `json:"plain"`
		Of      []*pointers       `json:"of"`
		Bytes   []byte            `json:"bytes"`
		Array   [3]uint8          `json:"array"`
		Nested  [][]float32       `json:"nested"`
		Map     map[string]plain  `json:"map,omitempty"`
		Maps    []map[int]bool    `json:"maps"`
		Empty   [0]int            `json:"empty,omitempty"`
		Struct  struct{}          `json:"struct,omitempty"` //nolint:modernize // omitempty has no effect here
		Keys    map[big.Word]int8 `json:"keys"`
	}
	mixed struct {
		Any    any             `json:"any"`
		None   any             `json:"none,omitempty"`
		Raw    json.RawMessage `json:"raw"`
		Number json.Number     `json:"number"`
		Time   time.Time       `json:"time,omitempty"` //nolint:modernize // omitempty has no effect here
		Zero   time.Time       `json:"zero,omitzero"`
		Value  byValue         `json:"value"`
		Ref    byReference     `json:"ref"`
		Refs   []byReference   `json:"refs"`
		Inner  struct {
			Ref  byReference
			Text asText
		} `json:"inner"`
		Map   map[asText]asText `json:"map"`
		Error error             `json:"error"`
	}
	embedded struct {
		plain
		*pointers
		Text string `json:"text"`
	}
	withEmbedded struct {
		Embedded embedded
		Of       *embedded
	}
	named struct {
		A string `json:"a<b"`
		B string `json:"日本"`
		C string `json:"a b"`
		Ä string
	}
	tagged struct {
		A string `json:"B"`
		B string
	}
	quotedText struct {
		Text string `json:"text,string"`
		Odd  int    `json:"odd,unknown"`
	}
	tree struct {
		Name     string  `json:"name"`
		Left     *tree   `json:"left,omitempty"`
		Children []tree  `json:"children"`
		All      []*tree `json:"all"`
	}
	byValue     struct{ n int }
	byReference struct{ N int }
	asText      string
	emptyStruct struct{}
)

func (v byValue) MarshalJSON() ([]byte, error) {
	return []byte(` {"value" : "<` + strconv.Itoa(v.n) + `>"} `), nil
}

func (r *byReference) MarshalJSON() ([]byte, error) { return []byte(strconv.Itoa(-r.N)), nil }

func (a asText) MarshalText() ([]byte, error) { return []byte("<" + string(a) + ">"), nil }

// duplicateNames returns a struct with two members of the same name, which encoding/json
// omits, and with an invalid name.
func duplicateNames() any {
	text := reflect.TypeFor[string]()
	v := reflect.New(reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: text, Tag: `json:"x"`},
		{Name: "B", Type: text, Tag: `json:"x"`},
		{Name: "C", Type: text},
		{Name: "D", Type: text, Tag: `json:"bad\"name"`},
	}))
	return v.Interface()
}

// dashName returns a struct with a member named "-".
func dashName() any {
	return reflect.New(reflect.StructOf([]reflect.StructField{{
		Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"-,"`,
	}})).Interface()
}

func samples(t *testing.T) []any {
	t.Helper()
	random := rand.New(rand.NewSource(1))
	yes := true
	yesPtr := &yes
	text := "text"
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.FixedZone("x", 3600))
	list := []any{
		times{At: at, Maybe: &at, All: []time.Time{at, at.UTC()}},
		&times{At: at},
		plain{},
		&plain{}, (*plain)(nil), []plain(nil),
		[]plain{},
		pointers{},
		&lists{},
		mixed{},
		&mixed{},
		[]mixed{{}},
		withEmbedded{},
		&withEmbedded{Of: &embedded{Text: "x", plain: plain{Unnamed: "p"}}},
		withPrivate{"a", "b"},
		emptyStruct{},
		time.Time{},
		[]time.Time{{}},
		named{"a", "b", "c", "d"},
		duplicateNames(), dashName(),
		tagged{"a", "b"},
		quotedText{Text: `"<`},
		&text, &yesPtr,
		tree{Name: "a", Left: &tree{Children: []tree{{}, {Left: &tree{}}}}, All: []*tree{nil, {}}},
		numbers{Float: math.Copysign(0, -1)},
		numbers{Float: 1e21},
		numbers{Short: 1e-6},
		numbers{Quoted: 1e-7},
		[]float64{1e-6, 1e-7},
		[]float32{1e20, 2e-6, 1e21},
		pointers{Text: &text, Deep: &yesPtr},
		mixed{
			Any: tree{}, Error: errors.New("x"), Raw: json.RawMessage(`{ "a": "<" }`),
			Number: "12",
		},
		map[string]any{"a": []plain{{}}},
		[]any{1, "a", nil, plain{}},
		7, "a<b", true, 1.5,
		[]string{"a", "\u2028", "\xff"},
		map[string]any{"\xff": `\ufffd`, "raw": json.RawMessage(`"\ufffd"`), "own": asText("\xff")},
	}
	for exponent := -12; exponent < 25; exponent++ {
		n := random.NormFloat64() * math.Pow10(exponent)
		list = append(list, n, float32(n), numbers{n, float32(n), -n},
			[]float64{math.Pow10(exponent), 1 - math.Pow10(exponent)})
	}
	for _, sample := range []any{
		plain{},
		pointers{},
		lists{},
		[]plain{},
		[]*plain{},
		numbers{},
		[][]lists{},
		tagged{},
		byReference{},
	} {
		for range 50 {
			v, ok := quick.Value(reflect.TypeOf(sample), random)
			if !ok {
				t.Fatalf("no random value of %T", sample)
			}
			address := reflect.New(v.Type())
			address.Elem().Set(v)
			list = append(list, v.Interface(), address.Interface())
		}
	}
	return list
}

func TestAppendValue(t *testing.T) {
	t.Run("returns the encoding of encoding/json", func(t *testing.T) {
		for _, v := range samples(t) {
			want, wantErr := marshal(v)
			got, err := xbase.AppendValue([]byte("before"), v)
			if wantErr != nil || err != nil {
				t.Fatalf("%T %+v: errors %v and %v", v, v, err, wantErr)
			}
			if string(got) != "before"+want {
				t.Fatalf("%T %+v:\n got %s\nwant %s", v, v, got, want)
			}
		}
	})

	t.Run("returns the errors of encoding/json", func(t *testing.T) {
		cycle := &tree{Name: "cycle"}
		cycle.Left = cycle
		type pointer *pointer
		var self pointer
		self = &self
		year := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
		for name, v := range map[string]any{
			"not a number":          numbers{Float: math.NaN()},
			"infinity":              []float32{1, float32(math.Inf(1))},
			"year with five digits": struct{ At time.Time }{year},
			"year behind a pointer": times{Maybe: &year},
			"cycle":                 cycle,
			"pointer to itself":     self,
			"channel":               struct{ C chan int }{},
			"omitted function": struct {
				F func() `json:",omitempty"`
			}{},
			"invalid number":            mixed{Number: "x"},
			"channel in a nested slice": [][]any{{make(chan int)}},
		} {
			t.Run(name, func(t *testing.T) {
				if name == "pointer to itself" && !strings.HasPrefix(runtime.Version(), "go1.26") {
					t.Skip("encoding/json overflows the stack since Go 1.27")
				}
				_, want := json.Marshal(v)
				dst, err := xbase.AppendValue([]byte("before"), v)
				if want == nil || err == nil || errors.Unwrap(err).Error() != want.Error() {
					t.Errorf("error = %v, want %v", err, want)
				}
				if string(dst) != "before" {
					t.Errorf("buffer = %q, want before", dst)
				}
			})
		}
	})
}
