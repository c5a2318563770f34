package xenv_test

import (
	"fmt"
	"math"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// shop has a field of each type.
type shop struct {
	Name     string        `env:"SHOP_NAME" required:"true" min:"2" max:"8" doc:"Name."`
	Open     bool          `env:"SHOP_OPEN" default:"true" doc:"Whether it is open."`
	Shelves  int           `env:"SHOP_SHELVES" default:"32" min:"1" max:"65536" doc:"Shelves."`
	Bytes    int64         `env:"SHOP_BYTES" default:"4" max:"9223372036854775807" doc:"Bytes."`
	Small    uint8         `env:"SHOP_SMALL" default:"7" doc:"A small number."`
	Rate     float64       `env:"SHOP_RATE" default:"0.5" doc:"Rate."`
	Wait     time.Duration `env:"SHOP_WAIT" default:"5s" max:"1h" doc:"Wait."`
	Slow     time.Duration `env:"SHOP_SLOW" default:"200ms" unit:"1ms" doc:"Slow."`
	Mode     string        `env:"SHOP_MODE" default:"fast" oneof:"fast safe" doc:"Mode."`
	Paths    []string      `env:"SHOP_PATHS" doc:"Paths."`
	Key      xenv.Secret   `env:"SHOP_KEY" min:"4" doc:"Key."`
	Pass     string        `env:"SHOP_PASS" secret:"true" doc:"Password."`
	Address  netip.Addr    `env:"SHOP_ADDRESS" default:"127.0.0.1" doc:"Address."`
	Inner    inner
	untagged string
}

type inner struct {
	Deep int `env:"SHOP_DEEP" default:"1" doc:"Depth."`
}

func init() { xenv.Register[shop]("Shop") }

func TestLoad(t *testing.T) {
	t.Run("returns defaults", func(t *testing.T) {
		got, err := xenv.Load[shop](xenv.Map{"SHOP_NAME": "corner"})
		want := shop{
			Name: "corner", Open: true, Shelves: 32, Bytes: 4, Small: 7, Rate: 0.5,
			Wait: 5 * time.Second, Slow: 200 * time.Millisecond, Mode: "fast",
			Address: netip.MustParseAddr("127.0.0.1"), Inner: inner{Deep: 1},
		}
		if err != nil || !reflect.DeepEqual(got, want) || got.untagged != "" {
			t.Errorf("Load = %+v, %v\nwant %+v", got, err, want)
		}
	})
	t.Run("returns values", func(t *testing.T) {
		got, err := xenv.Load[shop](xenv.Map{
			"SHOP_NAME": "corner", "SHOP_OPEN": "off", "SHOP_SHELVES": " 65536 ",
			"SHOP_BYTES": "9223372036854775807", "SHOP_SMALL": "255", "SHOP_RATE": "2.5",
			"SHOP_WAIT": "1m30s", "SHOP_SLOW": "350", "SHOP_MODE": "safe",
			"SHOP_PATHS": " /a, ,/b/* ", "SHOP_KEY": "hunter2", "SHOP_PASS": "none",
			"SHOP_ADDRESS": "::1", "SHOP_DEEP": "9",
		})
		want := shop{
			Name: "corner", Shelves: 65536, Bytes: math.MaxInt64, Small: 255, Rate: 2.5,
			Wait: 90 * time.Second, Slow: 350 * time.Millisecond, Mode: "safe",
			Paths: []string{"/a", "/b/*"}, Key: "hunter2",
			Address: netip.MustParseAddr("::1"), Inner: inner{Deep: 9},
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Load = %+v, %v\nwant %+v", got, err, want)
		}
	})
	t.Run("reports every problem and returns defaults", func(t *testing.T) {
		got, err := xenv.Load[shop](xenv.Map{
			"SHOP_OPEN": "perhaps", "SHOP_SHELVES": "0", "SHOP_SMALL": "256", "SHOP_WAIT": "5",
			"SHOP_MODE": "loud", "SHOP_KEY": "abc", "SHOP_ADDRESS": "here", "SHOP_BYTES": "-1",
		})
		want := []string{
			"SHOP_NAME: is not set (accepted: 2 to 8 bytes)",
			`SHOP_OPEN: "perhaps" is not a boolean (accepted: true, false, yes, no, on, off, 1 or 0)`,
			`SHOP_SHELVES: "0" is out of range (accepted: 1 to 65536)`,
			`SHOP_BYTES: "-1" is out of range (accepted: 0 or more)`,
			`SHOP_SMALL: "256" does not fit uint8 (accepted: an integer)`,
			`SHOP_WAIT: "5" has no unit (accepted: a duration such as 500ms, 5s or 1m30s, 0s to 1h0m0s)`,
			`SHOP_MODE: "loud" is not one of the values (accepted: fast, safe)`,
			"SHOP_KEY: the value has 3 bytes (accepted: 4 or more bytes)",
		}
		if err == nil {
			t.Fatal("Load = nil error, want problems")
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(want)+1 || !slices.Equal(lines[:len(want)], want) ||
			!strings.HasPrefix(lines[len(want)], `SHOP_ADDRESS: "here" is not accepted: `) {
			t.Errorf("problems:\n%s\nwant:\n%s", err, strings.Join(want, "\n"))
		}
		if !got.Open || got.Shelves != 32 || got.Small != 7 || got.Wait != 5*time.Second ||
			got.Mode != "fast" || got.Key != "" {
			t.Errorf("Load = %+v, want the defaults", got)
		}
	})
	t.Run("accepts a nil source", func(t *testing.T) {
		if got, err := xenv.Load[inner](nil); err != nil || got.Deep != 1 {
			t.Errorf("Load = %+v, %v", got, err)
		}
	})
}

func TestFill(t *testing.T) {
	got := shop{Name: "mine", Shelves: 3, Mode: "safe"}
	if err := xenv.Fill(xenv.Map{"SHOP_SHELVES": "5", "SHOP_MODE": ""}, &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "mine" || got.Shelves != 5 || got.Mode != "safe" || got.Wait != 0 {
		t.Errorf("Fill = %+v, want only Shelves changed", got)
	}
}

type same struct {
	Deep int `env:"SHOP_DEEP" default:"1" doc:"Depth."`
}

type other struct {
	Deep int `env:"SHOP_DEEP" default:"2" doc:"Depth."`
}

type invalidDefault struct {
	Port int `env:"SHOP_WRONG" default:"x" doc:"Wrong."`
}

type unsupportedType struct {
	Port chan int `env:"SHOP_WRONG" doc:"Wrong."`
}

func TestRegister(t *testing.T) {
	xenv.Register[same]("Shop") // the same definition
	for _, tc := range []struct {
		name     string
		register func()
		want     string
	}{
		{
			name:     "different definition",
			register: func() { xenv.Register[other]("Shop") },
			want:     "xenv_test and github.com/plinthgo/plinth/core/defined/xenv_test register SHOP_DEEP",
		},
		{
			name:     "invalid default",
			register: func() { xenv.Register[invalidDefault]("Shop") },
			want:     "invalidDefault.Port has an invalid default",
		},
		{
			name:     "unsupported type",
			register: func() { xenv.Register[unsupportedType]("Shop") },
			want:     "unsupportedType.Port has an unsupported type",
		},
		{
			name: "not a struct", register: func() { xenv.Register[int]("Shop") },
			want: "int is not a named struct",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tc.want) {
					t.Errorf("panic %q, want %q in it", got, tc.want)
				}
			}()
			tc.register()
		})
	}
}

func TestTable(t *testing.T) {
	var names []string
	for _, v := range xenv.Table() {
		names = append(names, v.Key.String())
		if v.Group != "Shop" || v.Meaning == "" || len(v.Packages) == 0 {
			t.Errorf("%+v has no group, no meaning or no package", v)
		}
	}
	if len(names) != 14 || names[0] != "SHOP_NAME" || names[13] != "SHOP_DEEP" {
		t.Errorf("names = %v, want the fields in order", names)
	}
	if v := xenv.Lookup("SHOP_KEY"); !v.Secret || v.Min != 4 {
		t.Errorf("SHOP_KEY = %+v, want a secret", v)
	}
}

func TestMisspelled(t *testing.T) {
	t.Setenv("SHOP_SHELFES", "3")
	t.Setenv("SHOP_SHELVESXYZ", "3")
	t.Setenv("SHOP_MODES", "")
	got := xenv.Misspelled()
	want := []string{
		"SHOP_SHELFES is set, and no linked package reads it: did you mean SHOP_SHELVES?",
	}
	if !slices.Equal(got, want) {
		t.Errorf("Misspelled = %q, want %q", got, want)
	}
}

func TestGetEnv_Types(t *testing.T) {
	const key xenv.EnvKey = "PLINTH_TEST_VALUE"
	for _, tc := range []struct {
		name string
		text string
		read func() any
		want any
	}{
		{
			name: "string", text: " a b ",
			read: func() any { return xenv.GetEnvString(key, "x") }, want: " a b ",
		},
		{
			name: "empty string is not set", text: "",
			read: func() any { return xenv.GetEnvString(key, "x") }, want: "x",
		},
		{
			name: "bool", text: "TRUE",
			read: func() any { return xenv.GetEnvBool(key, false) }, want: true,
		},
		{
			name: "bool as off", text: "Off",
			read: func() any { return xenv.GetEnvBool(key, true) }, want: false,
		},
		{
			name: "not a bool", text: "maybe",
			read: func() any { return xenv.GetEnvBool(key, true) }, want: true,
		},
		{name: "int", text: " 42 ", read: func() any { return xenv.GetEnvInt(key, 1) }, want: 42},
		{
			name: "not an int", text: "4.2",
			read: func() any { return xenv.GetEnvInt(key, 1) }, want: 1,
		},
		{
			name: "int64", text: "9223372036854775807",
			read: func() any { return xenv.GetEnvInt64(key, 1) }, want: int64(9223372036854775807),
		},
		{
			name: "too large", text: "9223372036854775808",
			read: func() any { return xenv.GetEnvInt64(key, 1) }, want: int64(1),
		},
		{
			name: "float", text: "2.5",
			read: func() any { return xenv.GetEnvFloat(key, 1) }, want: 2.5,
		},
		{name: "NaN", text: "NaN", read: func() any { return xenv.GetEnvFloat(key, 1) }, want: 1.0},
		{
			name: "duration", text: "1m30s",
			read: func() any { return xenv.GetEnvDuration(key, 0) }, want: 90 * time.Second,
		},
		{
			name: "duration without a unit", text: "5",
			read: func() any { return xenv.GetEnvDuration(key, time.Hour) }, want: time.Hour,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(key.String(), tc.text)
			if got := tc.read(); got != tc.want {
				t.Errorf("%q = %v, want %v", tc.text, got, tc.want)
			}
		})
	}
}

type numbers struct {
	Bytes int64   `env:"SHOP_BYTES" default:"1"`
	Rate  float64 `env:"SHOP_RATE" default:"1"`
	Share float32 `env:"SHOP_SHARE" default:"1"`
}

func TestLoad_Numbers(t *testing.T) {
	for _, tc := range []struct {
		name string
		text xenv.Map
		want numbers
		ok   bool
	}{
		{
			name: "maximum", text: xenv.Map{"SHOP_BYTES": "9223372036854775807"},
			want: numbers{9223372036854775807, 1, 1}, ok: true,
		},
		{
			name: "too large", text: xenv.Map{"SHOP_BYTES": "9223372036854775808"},
			want: numbers{1, 1, 1},
		},
		{name: "float", text: xenv.Map{"SHOP_RATE": "2.5"}, want: numbers{1, 2.5, 1}, ok: true},
		{name: "not finite", text: xenv.Map{"SHOP_RATE": "NaN"}, want: numbers{1, 1, 1}},
		{
			name: "not finite in 32 bits",
			text: xenv.Map{"SHOP_SHARE": "1e300"}, want: numbers{1, 1, 1},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := xenv.Load[numbers](tc.text)
			if got != tc.want || (err == nil) != tc.ok {
				t.Errorf("Load = %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Setenv("SHOP_SHELVES", "abc")
	t.Setenv("SHOP_WAIT", "2h")
	t.Setenv("SHOP_PASS", "hunter2")
	err := xenv.Validate()
	if err == nil {
		t.Fatal("Validate = nil")
	}
	want := []string{
		"SHOP_NAME: is not set (accepted: 2 to 8 bytes)",
		`SHOP_SHELVES: "abc" is not an integer (accepted: 1 to 65536)`,
		`SHOP_WAIT: "2h" is out of range (accepted: a duration such as 500ms, 5s or 1m30s, 0s to 1h0m0s)`,
	}
	if got := strings.Split(err.Error(), "\n"); !slices.Equal(got, want) {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestProblem(t *testing.T) {
	t.Run("omits the value of a secret", func(t *testing.T) {
		const secret = "hunter2"
		for _, key := range []xenv.EnvKey{"SHOP_KEY", "SHOP_PASS"} {
			got := xenv.Problem(key, secret, "is wrong", "").Error()
			if strings.Contains(got, secret) {
				t.Errorf("%q contains the secret", got)
			}
		}
	})

	t.Run("truncates long values between characters", func(t *testing.T) {
		for _, tc := range []struct{ value, shown string }{
			{value: strings.Repeat("界", 64), shown: strings.Repeat("界", 64)},
			{value: strings.Repeat("界", 65), shown: strings.Repeat("界", 64) + "…"},
			{
				value: "password=" + strings.Repeat("s", 100) + " mode=fast",
				shown: "password=*** mode=fast",
			},
		} {
			want := `SHOP_MODE: "` + tc.shown + `" is wrong`
			if got := xenv.Problem("SHOP_MODE", tc.value, "is wrong", "").Error(); got != want {
				t.Errorf("Problem = %q, want %q", got, want)
			}
		}
	})
}

func TestApply(t *testing.T) {
	const key = xenv.EnvKey("PLINTH_TEST_APPLIED")
	for _, tc := range []struct{ name, env, file, want string }{
		{name: "environment takes precedence", env: "real", file: "file", want: "real"},
		{name: "none in the environment takes precedence", env: "none", file: "file", want: "none"},
		{
			name: "empty variable does not take precedence",
			env:  "", file: "file", want: "file",
		},
		{name: "empty value in the file is ignored", env: "", file: "", want: ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(key.String(), tc.env)
			if err := xenv.Apply(map[string]string{key.String(): tc.file}); err != nil {
				t.Fatal(err)
			}
			if got, set := xenv.GetEnv(key); got != tc.want || set != (tc.want != "") {
				t.Errorf("GetEnv = %q, %t, want %q", got, set, tc.want)
			}
		})
	}
	if err := xenv.Apply(map[string]string{"": "x"}); err == nil ||
		!strings.Contains(err.Error(), `""`) {
		t.Errorf("Apply without a name: %v, want the quoted name", err)
	}
}

func TestGetEnv_None(t *testing.T) {
	for _, v := range xenv.Table() {
		t.Setenv(v.Key.String(), "none")
		if _, set := xenv.GetEnv(v.Key); set != (v.Default != "") {
			t.Errorf("%s=none is set: %t, but the default is %q", v.Key, set, v.Default)
		}
	}
	t.Setenv("ORDERS_MODE", "none")
	if got := xenv.GetEnvString("ORDERS_MODE", "all"); got != "none" {
		t.Errorf("unregistered ORDERS_MODE = %q, want none", got)
	}
}

func BenchmarkGetEnvInt(b *testing.B) {
	b.Setenv("PLINTH_PORT", "8080")
	b.ReportAllocs()
	for b.Loop() {
		xenv.GetEnvInt(xenv.Port, 1118)
	}
}
