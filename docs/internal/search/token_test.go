package search_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/docs/internal/search"
)

func TestTokens(t *testing.T) {
	t.Run("splits words", func(t *testing.T) {
		for _, test := range []struct {
			name string
			text string
			want string
		}{
			{"words", "A cache, and more.", "a cache and more"},
			{"camel case", "WithAutoMigrate", "withautomigrate with auto migrate"},
			{
				"dotted", "xOptDatabase.WithAutoMigrate",
				"xoptdatabase opt database withautomigrate with auto migrate xoptdatabasewithautomigrate",
			},
			{"upper snake case", "NOSQL_DRIVER", "nosql driver nosqldriver"},
			{"initials before a word", "HTTPServer", "httpserver http server"},
			{"hyphens", "x-request-uuid", "request uuid xrequestuuid"},
			{"lower-case first letter", "xDB", "xdb db"},
			{
				"package of core", "xdb.MustGetDB xml",
				"xdb db mustgetdb must get db xdbmustgetdb xml ml",
			},
			{"package of an extension", "cronx prefix", "cronx cron prefix"},
			{"gRPC", "gRPC", "grpc rpc"},
			{"digits within", "OAuth2Token", "oauth2token auth2 token"},
			{"plural of initials", "DSNs and IDs", "dsn and id"},
			{"version", "go 1.25.0", "go 1.25.0"},
			{"date", "2026-07-28", "2026-07-28"},
			{"plurals", "caches policies status classes", "cache policy status classe"},
			{"short words ending in s", "TLS DNS is", "tls dns is"},
			{"possessive", "River's don't", "river dont"},
			{"diacritics", "Café naïve Ärger", "cafe naive arger"},
			{"wide letters", "ＧＲＰＣ", "grpc"},
			{"pairs", "数据库迁移", "数据 据库 库迁 迁移"},
			{"one character", "锁", "锁"},
			{"mixed", "gRPC拦截器", "grpc rpc 拦截 截器"},
			{"between characters", "用xCache缓存", "用 xcache cache 缓存"},
			{"Japanese", "データベース", "デー ータ タベ ベー ース"},
			{"Korean", "캐시 서버", "캐시 서버"},
			{"narrow Katakana", "ｷﾔｼ", "キヤ ヤシ"},
			{"no words", " .,;!? -- __ ", ""},
			{"path", "/api/v1/user", "api v1 user"},
		} {
			t.Run(test.name, func(t *testing.T) {
				var terms []string
				for _, token := range search.Tokens(test.text) {
					terms = append(terms, token.Term)
				}
				if got := strings.Join(terms, " "); got != test.want {
					t.Errorf("tokens of %q: got %q, want %q", test.text, got, test.want)
				}
			})
		}
	})

	t.Run("gives parts the position of the word", func(t *testing.T) {
		want := []search.Token{
			{Term: "the", Kind: "word", Start: 0, End: 3},
			{Term: "nosql", Kind: "piece", Start: 4, End: 16},
			{Term: "driver", Kind: "piece", Start: 4, End: 16},
			{Term: "nosqldriver", Kind: "word", Start: 4, End: 16},
			{Term: "缓存", Kind: "pair", Start: 17, End: 23},
		}
		if diff := cmp.Diff(want, search.Tokens("the NOSQL_DRIVER 缓存")); diff != "" {
			t.Errorf("tokens (-want +got):\n%s", diff)
		}
	})
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{
		"", "xoptdatabase.WithAutoMigrate", "gRPC拦截器", "NOSQL_DRIVER",
		"a'b’c", "e\u0301te\u0301", "\xff\xfe", "İstanbul", "1.2.3", "ｷﾞ", "각",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, token := range search.Tokens(text) {
			if token.Term == "" || len(token.Term) > 64 || !utf8.ValidString(token.Term) &&
				utf8.ValidString(text) {
				t.Errorf("token of %q: got %q, want 1 to 64 bytes of UTF-8", text, token.Term)
			}
			if token.Start < 0 || token.End > len(text) || token.Start >= token.End {
				t.Errorf("token %q of %q: got bytes %d to %d",
					token.Term, text, token.Start, token.End)
			}
			if token.Start < last {
				t.Errorf("token %q of %q: got start %d after %d",
					token.Term, text, token.Start, last)
			}
			last = token.Start
		}
	})
}
