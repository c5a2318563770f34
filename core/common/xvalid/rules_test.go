package xvalid_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-playground/validator/v10"
	"github.com/google/uuid"

	"github.com/plinthgo/plinth/core/common/xvalid"
)

type id int64 // a named integer type, like xsnowflake.SnowflakeID

func TestValidate_Rules(t *testing.T) {
	type url struct {
		V string `binding:"strict_url"`
	}
	type uid struct {
		V string `binding:"strict_uuid"`
	}
	type uidBytes struct {
		V uuid.UUID `binding:"strict_uuid"`
	}
	type word struct {
		V string `binding:"alphanum_underscore"`
	}
	type pattern struct {
		V string `binding:"regexp=^[a-z]{20x2C4}(a0x7Cb)$"`
	}
	type ints struct {
		V int8 `binding:"enum_int=-1 0 7"`
	}
	type uints struct {
		V uint64 `binding:"enum_int=-1 0 7"`
	}
	type words struct {
		V string `binding:"enum_string=red 'dark blue' Green"`
	}
	type doubles struct {
		V float64 `binding:"enum_float=0.1 2"`
	}
	type floats struct {
		V float32 `binding:"enum_float=0.1 2"`
	}
	type text struct {
		V string `binding:"snowflake"`
	}
	type number struct {
		V id `binding:"snowflake"`
	}
	type unsigned struct {
		V uint64 `binding:"snowflake"`
	}
	type optional struct {
		V *id `binding:"omitempty,snowflake"`
	}
	zero := id(0)
	for _, tc := range []struct {
		name  string
		value any
		want  bool
	}{
		{"url http", url{"http://example.com"}, true},
		{"url https with all parts", url{"https://api.example.com:8443/a/b?c=d#e"}, true},
		{"url IPv4", url{"http://127.0.0.1/"}, true},
		{"url IPv6", url{"http://[2001:db8::1]/"}, true},
		{"url IPv6 with port", url{"https://[::1]:8080/x"}, true},
		{"url IPv6 with zone", url{"http://[fe80::1%25eth0]/"}, true},
		{"url localhost", url{"http://localhost:1118"}, true},
		{"url rooted name", url{"http://example.com./"}, true},
		{"url other script", url{"https://例子.测试/路径"}, true},
		{"url upper-case scheme", url{"HTTPS://EXAMPLE.COM"}, true},
		{"url empty", url{""}, false},
		{"url ftp", url{"ftp://example.com"}, false},
		{"url javascript", url{"javascript:alert(1)"}, false},
		{"url without scheme", url{"example.com"}, false},
		{"url relative to scheme", url{"//example.com"}, false},
		{"url without host", url{"http:///path"}, false},
		{"url opaque", url{"http:example.com"}, false},
		{"url port only", url{"http://:80/"}, false},
		{"url empty port", url{"http://example.com:/"}, false},
		{"url port 0", url{"http://example.com:0/"}, false},
		{"url port too large", url{"http://example.com:65536/"}, false},
		{"url user", url{"http://user:pass@example.com/"}, false},
		{"url space", url{"http://example.com/a b"}, false},
		{"url newline", url{"http://example.com/\n"}, false},
		{"url backslash", url{`http://example.com\@evil.com`}, false},
		{"url empty label", url{"http://a..b/"}, false},
		{"url hyphen at the edge", url{"http://-a.com/"}, false},
		{"url bad IPv4", url{"http://1.2.3.256/"}, false},
		{"url number as a host", url{"http://12345/"}, false},
		{"url bad IPv6", url{"http://[::g]/"}, false},
		{"url bare IPv6", url{"http://::1/"}, false},
		{"url label of 64", url{"http://" + strings.Repeat("a", 64) + ".com"}, false},

		{"uuid v1", uid{"c232ab00-9414-11ec-b3c8-9f6bdeced846"}, true},
		{"uuid v4", uid{"919108f7-52d1-4320-9bac-f847db4148a8"}, true},
		{"uuid v6", uid{"1EC9414C-232A-6B00-B3C8-9F6BDECED846"}, true},
		{"uuid v7", uid{"017f22e2-79b0-7cc3-98c4-dc0c0c07398f"}, true},
		{"uuid v8", uid{"2489e9ad-2ee2-8e00-8ec9-32d5f69181c0"}, true},
		{"uuid nil", uid{"00000000-0000-0000-0000-000000000000"}, false},
		{"uuid max", uid{"ffffffff-ffff-ffff-ffff-ffffffffffff"}, false},
		{"uuid v9", uid{"919108f7-52d1-9320-9bac-f847db4148a8"}, false},
		{"uuid variant of Microsoft", uid{"919108f7-52d1-4320-cbac-f847db4148a8"}, false},
		{"uuid without dashes", uid{"919108f752d143209bacf847db4148a8"}, false},
		{"uuid in braces", uid{"{919108f7-52d1-4320-9bac-f847db4148a}"}, false},
		{"uuid urn", uid{"urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8"}, false},
		{"uuid bad digit", uid{"919108g7-52d1-4320-9bac-f847db4148a8"}, false},
		{"uuid empty", uid{""}, false},
		{"uuid bytes", uidBytes{uuid.New()}, true},
		{"uuid bytes nil", uidBytes{}, false},

		{"word", word{"aZ_09"}, true},
		{"word empty", word{""}, false},
		{"word dash", word{"a-b"}, false},
		{"word other script", word{"é"}, false},

		{"pattern with comma and pipe", pattern{"abb"}, true},
		{"pattern rejects", pattern{"ac"}, false},

		{"int in the list", ints{-1}, true},
		{"int not in the list", ints{1}, false},
		{"uint in the list", uints{7}, true},
		{"uint is not a negative number", uints{math.MaxUint64}, false},
		{"string in the list", words{"red"}, true},
		{"string with a space", words{"dark blue"}, true},
		{"string in another case", words{"green"}, false},
		{"string part", words{"dark"}, false},
		{"float64 in the list", doubles{0.1}, true},
		{"float64 near it", doubles{0.1000001}, false},
		{"float64 not a number", doubles{math.NaN()}, false},
		{"float32 in the list", floats{0.1}, true},

		{"id text", text{"7340012345678901234"}, true},
		{"id one", text{"1"}, true},
		{"id largest", text{"9223372036854775807"}, true},
		{"id too large", text{"9223372036854775808"}, false},
		{"id of 20 nines", text{strings.Repeat("9", 20)}, false},
		{"id zero", text{"0"}, false},
		{"id negative", text{"-1"}, false},
		{"id with a sign", text{"+1"}, false},
		{"id with a leading zero", text{"01"}, false},
		{"id with a space", text{" 1"}, false},
		{"id with an underscore", text{"1_0"}, false},
		{"id hexadecimal", text{"0x1"}, false},
		{"id empty", text{""}, false},
		{"id number", number{1}, true},
		{"id number zero", number{0}, false},
		{"id number negative", number{-5}, false},
		{"id unsigned", unsigned{1}, true},
		{"id unsigned too large", unsigned{1 << 63}, false},
		{"id absent", optional{nil}, true},
		{"id present and zero", optional{&zero}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := xvalid.Validate(t.Context(), tc.value)
			if (err == nil) != tc.want {
				t.Fatalf("Validate = %v, want valid: %v", err, tc.want)
			}
			if err != nil && xvalid.Failures(t.Context(), err) == nil {
				t.Fatalf("Validate = %v, want a failed validation", err)
			}
		})
	}
}

func TestValidate_InvalidTag(t *testing.T) {
	type badPattern struct {
		Name string `binding:"omitempty,regexp=([a-z"`
	}
	type badInteger struct {
		N int `binding:"omitempty,enum_int=1 two"`
	}
	type badFloat struct {
		N float64 `binding:"omitempty,enum_float="`
	}
	type badWords struct {
		S string `binding:"omitempty,enum_string='red"`
	}
	type unknown struct {
		S string `binding:"no_such_rule"`
	}
	type invalidKind struct {
		S []string `binding:"snowflake"`
	}
	type badEnumKind struct {
		S string `binding:"enum_int=1"`
	}
	type badParameter struct {
		S string `binding:"min=x"`
	}
	for _, tc := range []struct {
		name  string
		value any
		want  []string
	}{
		{
			"pattern",
			badPattern{},
			[]string{"badPattern", "Name", "regexp=([a-z", "missing closing"},
		},
		{"integer", badInteger{}, []string{"badInteger", "N", "enum_int=1 two", `"two"`}},
		{"empty list", badFloat{}, []string{"badFloat", "enum_float=", "empty"}},
		{"open quote", badWords{}, []string{"badWords", "enum_string='red", "quote"}},
		{"unknown rule", unknown{}, []string{"unknown", "no_such_rule", "S"}},
		{"kind", invalidKind{[]string{"1"}}, []string{"invalidKind", "snowflake", "[]string"}},
		{"kind of a list", badEnumKind{"1"}, []string{"badEnumKind", "enum_int", "string"}},
		{"parameter", badParameter{"1"}, []string{"badParameter", "x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 2 { // the error repeats
				err := xvalid.Validate(t.Context(), tc.value)
				if ruleErr := (*xvalid.RuleError)(nil); !errors.As(err, &ruleErr) {
					t.Fatalf("Validate = %v, want a RuleError", err)
				}
				for _, part := range tc.want {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("error %q does not contain %q", err, part)
					}
				}
			}
		})
	}
}

func TestValidate_Allocations(t *testing.T) {
	type value struct {
		Code string  `binding:"regexp=^[a-z]+(-[0-9]+)*$"`
		Int  int     `binding:"enum_int=1 2 3"`
		Rate float64 `binding:"enum_float=0.5 1.5"`
		Word string  `binding:"enum_string=red 'dark blue'"`
	}
	v := &value{Code: "abc-1", Int: 3, Rate: 1.5, Word: "dark blue"}
	got := testing.AllocsPerRun(100, func() {
		if err := xvalid.Validate(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	})
	// The validator boxes each field. Compiling a pattern needs dozens of allocations.
	if want := 6.0; got > want {
		t.Errorf("%v allocations, want at most %v", got, want)
	}
}

func FuzzIsPlainEmail(f *testing.F) {
	for _, s := range []string{
		"ada@example.com", "a.b+c_d-e@x-y.example.co", "a@b", "a..b@c.de", ".a@b.cd", "a@-b.cd",
		"a@b.c1", "a@1.2c", "a@b.c-d", "\"a\"@b.cd", "a@b@c.de", "a@b.cd.", "é@b.cd", "a b@c.de",
		"<a@b.cd>", "@", "a", "a@b.c.d.e.f",
	} {
		f.Add(s)
	}
	rule := validator.New()
	type email struct {
		V string `binding:"email"`
	}
	f.Fuzz(func(t *testing.T, s string) {
		address := rule.Var(s, "email") == nil
		want := address && len(s) <= 254
		if xvalid.IsPlainEmail(s) && !address {
			t.Errorf("IsPlainEmail(%q) = true for an invalid address", s)
		}
		if got := xvalid.Validate(t.Context(), email{s}) == nil; got != want {
			t.Errorf("email %q: got %v, want %v", s, got, want)
		}
	})
}

func TestValidate_EmailLength(t *testing.T) {
	type email struct {
		V string `binding:"email"`
	}
	domain := "@" + strings.Repeat(strings.Repeat("d", 60)+".", 3) + "example.com"
	for length, want := range map[int]bool{200: true, 254: true, 255: false, 320: false} {
		address := strings.Repeat("a", length-len(domain)) + domain
		if got := xvalid.Validate(t.Context(), email{address}) == nil; got != want {
			t.Errorf("address of %d characters is valid: %t, want %t", length, got, want)
		}
	}
}
