package xenv_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

func TestEveryConstantHasARowInTheTable(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "keys.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var constants []string
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			name, _ := strconv.Unquote(lit.Value)
			constants = append(constants, name)
		}
		return true
	})
	var rows []string
	for _, v := range xenv.Table() {
		rows = append(rows, v.Key.String())
	}
	slices.Sort(constants)
	slices.Sort(rows)
	if !slices.Equal(constants, rows) {
		t.Errorf("constants and table differ:\n%v\n%v", constants, rows)
	}
}

func TestEveryDefaultIsAccepted(t *testing.T) {
	for _, v := range xenv.Table() {
		if v.Meaning == "" || v.Group == "" {
			t.Errorf("%s has no meaning or no group", v.Key)
		}
		if v.Default == "" {
			continue
		}
		if err := v.Check(v.Default); err != nil {
			t.Errorf("default: %v", err)
		}
	}
}

func TestReadersReturnTheDefaultOfWhatDoesNotParse(t *testing.T) {
	const key xenv.EnvKey = "PLINTH_TEST_VALUE"
	for _, tc := range []struct {
		name string
		text string
		read func() any
		want any
	}{
		{name: "string", text: " a b ", read: func() any { return xenv.GetEnvString(key, "x") }, want: " a b "},
		{name: "empty string is not set", text: "", read: func() any { return xenv.GetEnvString(key, "x") }, want: "x"},
		{name: "bool", text: "TRUE", read: func() any { return xenv.GetEnvBool(key, false) }, want: true},
		{name: "bool in words", text: "Off", read: func() any { return xenv.GetEnvBool(key, true) }, want: false},
		{name: "no bool", text: "maybe", read: func() any { return xenv.GetEnvBool(key, true) }, want: true},
		{name: "int", text: " 42 ", read: func() any { return xenv.GetEnvInt(key, 1) }, want: 42},
		{name: "no int", text: "4.2", read: func() any { return xenv.GetEnvInt(key, 1) }, want: 1},
		{name: "int64", text: "9223372036854775807", read: func() any { return xenv.GetEnvInt64(key, 1) }, want: int64(9223372036854775807)},
		{name: "too large", text: "9223372036854775808", read: func() any { return xenv.GetEnvInt64(key, 1) }, want: int64(1)},
		{name: "float", text: "2.5", read: func() any { return xenv.GetEnvFloat(key, 1) }, want: 2.5},
		{name: "NaN", text: "NaN", read: func() any { return xenv.GetEnvFloat(key, 1) }, want: 1.0},
		{name: "duration", text: "1m30s", read: func() any { return xenv.GetEnvDuration(key, 0) }, want: 90 * time.Second},
		{name: "duration without a unit", text: "5", read: func() any { return xenv.GetEnvDuration(key, time.Hour) }, want: time.Hour},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(key.String(), tc.text)
			if got := tc.read(); got != tc.want {
				t.Errorf("%q read as %v, want %v", tc.text, got, tc.want)
			}
		})
	}
}

func TestTheTableGivesDefaultsAndUnits(t *testing.T) {
	for _, key := range []xenv.EnvKey{xenv.Port, xenv.Host, xenv.DatabaseSlowThreshold, xenv.LogCompress, xenv.ContextExcludeUrls} {
		t.Setenv(key.String(), "")
	}
	if got := xenv.Int(xenv.Port); got != 1118 {
		t.Errorf("port = %d, want 1118", got)
	}
	if got := xenv.String(xenv.Host); got != "localhost" {
		t.Errorf("host = %q, want localhost", got)
	}
	if !xenv.Bool(xenv.LogCompress) {
		t.Error("log compression is off by default, want on")
	}
	if got := xenv.List(xenv.ContextExcludeUrls); len(got) != 0 {
		t.Errorf("excluded paths = %q, want none", got)
	}
	if got := xenv.Duration(xenv.DatabaseSlowThreshold); got != 200*time.Millisecond {
		t.Errorf("slow threshold = %s, want 200ms", got)
	}
	t.Setenv(xenv.DatabaseSlowThreshold.String(), "350")
	if got := xenv.Duration(xenv.DatabaseSlowThreshold); got != 350*time.Millisecond {
		t.Errorf("slow threshold of 350 = %s, want 350ms", got)
	}
	t.Setenv(xenv.ContextExcludeUrls.String(), " /a, ,/b/* ")
	if got := xenv.List(xenv.ContextExcludeUrls); !slices.Equal(got, []string{"/a", "/b/*"}) {
		t.Errorf("list = %q", got)
	}
}

func TestValidateReportsEveryProblemWithNameValueAndWhatIsAccepted(t *testing.T) {
	t.Setenv("PLINTH_PORT", "abc")
	t.Setenv("GRPC_PORT", "70000")
	t.Setenv("PLINTH_DRAIN_DELAY", "5")
	t.Setenv("LOG_LEVEL", "loud")
	t.Setenv("PLINTH_DEBUG", "perhaps")
	err := xenv.Validate()
	if err == nil {
		t.Fatal("Validate = nil")
	}
	got := strings.Split(err.Error(), "\n")
	want := []string{
		`PLINTH_DEBUG: "perhaps" is not a boolean (accepted: true, false, yes, no, on, off, 1 or 0)`,
		`PLINTH_PORT: "abc" is not an integer (accepted: 0 to 65535)`,
		`PLINTH_DRAIN_DELAY: "5" has no unit (accepted: a duration such as 500ms, 5s or 1m30s, 0s to 1h0m0s)`,
		`LOG_LEVEL: "loud" is not one of the values (accepted: debug, info, notice, warn, error)`,
		`GRPC_PORT: "70000" is out of range (accepted: 0 to 65535)`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestProblemHidesSecrets(t *testing.T) {
	const secret = "hunter2"
	for _, v := range xenv.Table() {
		if got := xenv.Problem(v.Key, secret, "is wrong", "").Error(); v.Secret && strings.Contains(got, secret) {
			t.Errorf("%q shows the secret", got)
		}
	}
	for _, key := range []xenv.EnvKey{xenv.DatabasePass, xenv.DatabaseDsn, xenv.NoSqlPass, xenv.EmailPass} {
		if !xenv.Lookup(key).Secret {
			t.Errorf("%s is not marked as a secret", key)
		}
	}
}

func TestReadersOfTheTableTakeNothingThatValidateReports(t *testing.T) {
	for key, text := range map[xenv.EnvKey]string{
		xenv.NoSqlMemoryShardCount: "-1", xenv.Port: "70000", xenv.DatabaseConnectTimeout: "2h", xenv.MaxBodyBytes: "-5",
		xenv.DatabaseTLS: "prefer",
	} {
		t.Setenv(key.String(), text)
	}
	if got := xenv.String(xenv.DatabaseTLS); got != "disable" {
		t.Errorf("TLS = %q, want the default", got)
	}
	if got := xenv.Int(xenv.NoSqlMemoryShardCount); got != 32 {
		t.Errorf("shards = %d, want the default", got)
	}
	if got := xenv.Int(xenv.Port); got != 1118 {
		t.Errorf("port = %d, want the default", got)
	}
	if got := xenv.Duration(xenv.DatabaseConnectTimeout); got != 30*time.Second {
		t.Errorf("timeout = %s, want the default", got)
	}
	if got := xenv.Int64(xenv.MaxBodyBytes); got != 4<<20 {
		t.Errorf("body = %d, want the default", got)
	}
	t.Setenv(xenv.NoSqlMemoryShardCount.String(), "65536")
	if err := xenv.Validate(); err == nil || strings.Contains(err.Error(), "SHARD") || xenv.Int(xenv.NoSqlMemoryShardCount) != 65536 {
		t.Errorf("65536 shards, which the backend takes, are refused: %v", err)
	}
}

func TestApply(t *testing.T) {
	const key = xenv.EnvKey("PLINTH_TEST_APPLIED")
	for _, tc := range []struct{ name, env, file, want string }{
		{name: "a value of the environment wins", env: "real", file: "file", want: "real"},
		{name: "none in the environment wins", env: "none", file: "file", want: "none"},
		{name: "an empty value of the environment does not win", env: "", file: "file", want: "file"},
		{name: "an empty value of the file sets nothing", env: "", file: "", want: ""},
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
	if err := xenv.Apply(map[string]string{"": "x"}); err == nil || !strings.Contains(err.Error(), `""`) {
		t.Errorf("a nameless variable: %v, want its name in quotes", err)
	}
}

func TestGetEnv_NoneSwitchesOffWhatHasNoDefault(t *testing.T) {
	for _, v := range xenv.Table() {
		t.Setenv(v.Key.String(), "none")
		if _, set := xenv.GetEnv(v.Key); set != (v.Default != "") {
			t.Errorf("%s=none counts as set: %t, and the default is %q", v.Key, set, v.Default)
		}
	}
	if got := xenv.List(xenv.TrustedProxies); len(got) != 0 {
		t.Errorf("PLINTH_TRUSTED_PROXIES=none = %q, want no proxies", got)
	}
	t.Setenv("ORDERS_MODE", "none")
	if got := xenv.GetEnvString("ORDERS_MODE", "all"); got != "none" {
		t.Errorf("ORDERS_MODE of the application = %q, want none", got)
	}
}

func TestExampleListsEveryVariable(t *testing.T) {
	example := xenv.Example()
	for _, v := range xenv.Table() {
		if !strings.Contains(example, "\n# "+v.Key.String()+"="+v.Default+"\n") {
			t.Errorf("%s is not in the example", v.Key)
		}
	}
}

func BenchmarkGetEnvInt(b *testing.B) {
	b.Setenv("PLINTH_PORT", "8080")
	b.ReportAllocs()
	for b.Loop() {
		xenv.Int(xenv.Port)
	}
}
