package redis

import (
	"crypto/tls"
	"net/url"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/major/xcache/driver"
)

// summary returns the parts of settings on one line.
func summary(set *settings) string {
	s := newStore(set)
	defer func() { _ = s.Close() }()
	return strings.Join([]string{
		s.String(), set.User, set.Pass, set.SentinelUser, set.SentinelPass,
	}, "|")
}

func TestParse_URL(t *testing.T) {
	t.Run("accepts all forms", func(t *testing.T) {
		for _, tc := range []struct{ name, url, tls, want string }{
			{name: "scheme only", url: "redis://", want: "redis localhost:6379||||"},
			{name: "a host", url: "redis://h", want: "redis h:6379||||"},
			{name: "all parts", url: "redis://u:p@h:1/2", want: "redis h:1, database 2|u|p||"},
			{name: "a password alone", url: "redis://:p@h", want: "redis h:6379||p||"},
			{name: "a scheme in capitals", url: "REDIS://h/", want: "redis h:6379||||"},
			{name: "IPv6", url: "redis://:p@[::1]:1/0", want: "redis [::1]:1||p||"},
			{
				name: "database in the query", url: "redis://h?db=2",
				want: "redis h:6379, database 2||||",
			},
			{
				name: "escapes", url: "redis://%C3%BC:a%20b%40%2F%3F%23%25%0A@h",
				want: "redis h:6379|ü|a b@/?#%\n||",
			},
			{name: "a raw @ in the password", url: "redis://u:p@p@h", want: "redis h:6379|u|p@p||"},
			{name: "a raw : in the password", url: "redis://u:p:p@h", want: "redis h:6379|u|p:p||"},
			{name: "TLS", url: "rediss://h", want: "redis h:6379, TLS verify-full||||"},
			{
				name: "TLS with NOSQL_TLS disable", url: "rediss://h", tls: "disable",
				want: "redis h:6379, TLS verify-full||||",
			},
			{
				name: "TLS with NOSQL_TLS require", url: "rediss://h", tls: "require",
				want: "redis h:6379, TLS require||||",
			},
			{
				name: "TLS from NOSQL_TLS", url: "redis://h", tls: "verify-full",
				want: "redis h:6379, TLS verify-full||||",
			},
			{name: "socket", url: "unix:///run/r.sock", want: "redis /run/r.sock||||"},
			{
				name: "socket with all parts", url: "unix://u:p@/run/a%40b.sock?db=3",
				want: "redis /run/a@b.sock, database 3|u|p||",
			},
			{
				name: "sentinels", url: "redis+sentinel://:p@a:1,b/m",
				want: `redis sentinel "m" at a:1,b:26379||p||`,
			},
			{
				name: "sentinels with all parts",
				url:  "rediss+sentinel://u:p@a/m%2F/4?addr=b:2&addr=c&sentinel_username=su&sentinel_password=s%26p",
				want: `redis sentinel "m/" at a:26379,b:2,c:26379, database 4, TLS verify-full|u|p|su|s&p`,
			},
			{
				name: "cluster", url: "redis+cluster://a:1,b,[::1]:2",
				want: "redis cluster a:1,b:6379,[::1]:2||||",
			},
			{
				name: "cluster with addr parameters",
				url:  "rediss+cluster://u:p@a:1?addr=b:2&addr=c:3",
				want: "redis cluster a:1,b:2,c:3, TLS verify-full|u|p||",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				set, err := parse(driver.Config{URL: tc.url, TLS: tc.tls})
				if err != nil {
					t.Fatal(err)
				}
				if got := summary(set); got != tc.want {
					t.Errorf("%s is parsed as %q, want %q", tc.url, got, tc.want)
				}
			})
		}
	})

	t.Run("rejects invalid URLs", func(t *testing.T) {
		for _, address := range []string{
			"http://zq@h", "zqzq", "redis:zqzq", "redis://u:zq#zq@h", "redis://u:12/zq@h",
			"redis://u:12?zq@h", "redis://u:12?zq=@h", "redis://u:%zz@h",
			"redis://h/zq", "redis://h/1/zq", "redis://h?zq=1", "redis://h?db=zq",
			"redis://h?a=%zz",
			"unix://zq/s", "unix://", "redis+cluster://h/zq",
			"redis+cluster://h?db=1", "redis+sentinel://h", "redis+sentinel://h/m/zq",
			"redis+sentinel://h/%zz", "redis+sentinel://u:12/zq@h", "redis://a,zq", "redis://zq:0",
			"redis://h?sentinel_password=zq", "rediss+cluster://zq zq", "redis://user@h",
			"redis://[zq",
		} {
			err := Driver{}.Check(driver.Config{URL: address})
			if err == nil || !strings.HasPrefix(err.Error(), "NOSQL_URL: ") ||
				strings.Contains(err.Error(), "zq") {
				t.Errorf("%s: Check = %v, want an error of NOSQL_URL without its parts",
					address, err)
			}
		}
	})
}

// FuzzUnescapedPassword searches for passwords that leak into errors or are parsed as a
// host.
func FuzzUnescapedPassword(f *testing.F) {
	for _, scheme := range []string{"redis", "rediss+sentinel", "redis+cluster"} {
		for _, lead := range []string{"", "p", "12"} {
			for _, sep := range []string{
				"@", "#", "/", "?", "@#", "#@", "@/", "@?", "/@", "?a=",
				"?db=", ":", "%", "%4", "[", "]", " ", "\n", "\\", ",", "&", ";", "://",
			} {
				f.Add(scheme, lead, sep, "")
				f.Add(scheme, lead, sep, sep)
			}
		}
	}
	f.Fuzz(func(t *testing.T, scheme, lead, first, second string) {
		if strings.Contains(scheme, "zq") || strings.Contains(scheme, ":") {
			return
		}
		address := scheme + "://u:" + lead + first + "zq" + second + "zq@127.0.0.1:1/m"
		set, err := parse(driver.Config{URL: address})
		if err != nil {
			if strings.Contains(err.Error(), "zq") {
				t.Errorf("%q: %v", address, err)
			}
			return
		}
		s := newStore(set)
		defer func() { _ = s.Close() }()
		if text := s.String(); strings.Contains(text, "zq") ||
			!strings.Contains(text, "127.0.0.1:1") {
			t.Errorf("%q: String = %q", address, text)
		}
	})
}

// FuzzURL checks that escaped parts survive parsing.
func FuzzURL(f *testing.F) {
	for _, text := range []string{
		"a b", "'", `"`, "@", ":", "/", "//", "%", "%2F", "?", "#", "&",
		"=", ";", "+", "\\", "密", "\xff", "\n", ",",
	} {
		f.Add("u"+text, text+"p", text, "s"+text)
	}
	f.Fuzz(func(t *testing.T, user, pass, master, sentinel string) {
		if user == "" || pass == "" || master == "" {
			return
		}
		address := "redis+sentinel://" + url.UserPassword(user, pass).String() + "@a:1,b/" +
			strings.ReplaceAll(url.PathEscape(master), "@", "%40") + "/7?" +
			url.Values{"sentinel_password": {sentinel}}.Encode()
		set, err := parse(driver.Config{URL: address})
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		if set.User != user || set.Pass != pass || set.Master != master ||
			set.SentinelPass != sentinel || set.Database != 7 ||
			strings.Join(set.addresses, " ") != "a:1 b:26379" {
			t.Errorf("%s is parsed as %+v", address, set)
		}
	})
}

func TestParse_TLS(t *testing.T) {
	for mode, checks := range map[string]bool{
		driver.TLSRequire:    false,
		driver.TLSVerifyFull: true,
	} {
		set, err := parse(driver.Config{Host: "h", TLS: mode})
		if err != nil || set.tls == nil || set.tls.InsecureSkipVerify == checks ||
			set.tls.MinVersion < tls.VersionTLS12 {
			t.Errorf("%s: %+v, %v", mode, set, err)
		}
	}
	if set, err := parse(driver.Config{Host: "h"}); err != nil || set.tls != nil {
		t.Errorf("default: %+v, %v; want no TLS", set, err)
	}
}
