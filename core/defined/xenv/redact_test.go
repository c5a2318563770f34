package xenv_test

import (
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

func TestRedact(t *testing.T) {
	for in, want := range map[string]string{
		"user:hunter2@host":                             "user:***@host",
		":hunter2@host:6379":                            ":***@host:6379",
		"user:hun ter2@host":                            "user:***@host",
		"user:hun@ter2@host":                            "user:***@host",
		"h1:6379,user:hunter2@h2:6379":                  "h1:***@h2:6379",
		"h1,user:hunter2@h2,user:hunter2@h3":            "h1,user:***@h3",
		"user:hun,ter2@h":                               "user:***@h",
		"redis://:hunter2@h:6379/0":                     "redis://:***@h:6379/0",
		"redis://user:hunter2@h1,h2":                    "redis://user:***@h1,h2",
		"https://hunter2@h/p":                           "https://***@h/p",
		"postgres://u:hun/ter2@x@h/d?a=b":               "postgres://u:***@h/d?a=b",
		"user:hunter2@tcp(h:3306)/db?parseTime=true":    "user:***@tcp(h:3306)/db?parseTime=true",
		"host=h user=u password=hunter2 dbname=d":       "host=h user=u password=*** dbname=d",
		`host=h password = 'hun \'ter2' dbname=d`:       "host=h password = *** dbname=d",
		"Server=h;User Id=u;Password=hunter2;Encrypt=1": "Server=h;User Id=u;Password=***;Encrypt=1",
		"Server=h;PWD={hun;ter2};Encrypt=1":             "Server=h;PWD=***;Encrypt=1",
		"file:a.db?_auth_pass=hunter2&mode=ro":          "file:a.db?_auth_pass=***&mode=ro",
		"redis://u:hunter2@h?sentinel_password=hunter2": "redis://u:***@h?sentinel_password=***",
		"redis://h?sentinel_password=hunter2&db=1":      "redis://h?sentinel_password=***&db=1",
		"u:mypassword=hunter2@h":                        "***",
		"Server=tcp:h,1433;Password=hun@ter2;Encrypt=1": "***",
		"host=h password=hun@ter2":                      "host=h password=***",
		"":                                              "",
		"localhost":                                     "localhost",
		"h1:6379,h2:6379,[::1]:6379":                    "h1:6379,h2:6379,[::1]:6379",
		"http://h:80/a":                                 "http://h:80/a",
		"mail@example.org":                              "mail@example.org",
		"C:\\data\\a.db":                                "C:\\data\\a.db",
		"10.0.0.0/8,fd00::/8":                           "10.0.0.0/8,fd00::/8",
		"file:a.db?mode=ro&_pragma=on":                  "file:a.db?mode=ro&_pragma=on",
	} {
		if got := xenv.Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestProblem_Credentials(t *testing.T) {
	err := xenv.Problem(xenv.NoSqlHost, "user:hunter2@h", "is not a host", "")
	if text := err.Error(); strings.Contains(text, "hunter2") ||
		!strings.Contains(text, `"user:***@h"`) {
		t.Errorf("problem = %s", text)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("redis", "user", "hunter2", "h:6379")
	f.Add("", "", "hun:@,/ter2", "h1,h2")
	f.Add("", "u", "mypassword=a", "h")
	f.Fuzz(func(t *testing.T, scheme, user, password, host string) {
		if strings.ContainsAny(scheme+user, ":@/?#,;\"'( \t\r\n\v\f=") ||
			strings.ContainsAny(host, "@=") || len(password) < 8 {
			return
		}
		if strings.Contains(user+"***@"+host+scheme, password) {
			return
		}
		value := user + ":" + password + "@" + host
		if strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz") == "" && scheme != "" {
			value = scheme + "://" + value
		}
		if got := xenv.Redact(value); strings.Contains(got, password) {
			t.Errorf("Redact(%q) = %q", value, got)
		}
	})
}
