//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	mysqllib "github.com/go-sql-driver/mysql"

	"github.com/plinthgo/plinth/conformance/dbtest"
	"github.com/plinthgo/plinth/core/defined/xenv"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xdb/driver"
)

// step is one request. If path has the suffix "/", the ID of the first user is appended.
type step struct {
	path string
	body any
}

// steps contains the requests that are sent to the service on every database,
// including strings that databases compare differently.
var steps = []step{
	{register, person("ada")},
	{register, person("ada")},
	{register, gin.H{"username": "eve", "email": "ADA@example.org", "password": password}},
	{register, gin.H{"username": "Ada", "email": "countess@example.org", "password": password}},
	{register, gin.H{"username": "adá", "email": "accent@example.org", "password": password}},
	{register, gin.H{"username": "ada ", "email": "space@example.org", "password": password}},
	{register, gin.H{"username": "ad\x00a", "email": "nul@example.org", "password": password}},
	{register, gin.H{"username": "😀𝄞 数据库", "email": "four@example.org", "password": password}},
	{register, gin.H{
		"username": "x' OR '1'='1", "email": "quote@example.org", "password": password,
	}},
	{register, gin.H{
		"username": strings.Repeat("ü", 32), "email": "longest@example.org", "password": password,
	}},
	{register, gin.H{
		"username": strings.Repeat("ü", 33), "email": "longer@example.org", "password": password,
	}},
	{register, gin.H{"username": "a", "email": "invalid", "password": "x"}},
	{login, gin.H{"username": "ada", "password": password}},
	{login, gin.H{"username": "Ada", "password": password}},
	{login, gin.H{"username": "ADA", "password": password}},
	{login, gin.H{"username": "ada ", "password": password}},
	{login, gin.H{"username": "😀𝄞 数据库", "password": password}},
	{login, gin.H{"username": "x' OR '1'='1", "password": password}},
	{login, gin.H{"username": "ada", "password": "wrong"}},
	{login, gin.H{"username": "bob", "password": password}},
	{login, "no object"},
	{"/api/v1/user", person("java")},
	{"/api/v1/user", person("java")},
	{"/api/v1/user/", nil},
	{"/api/v1/user/", nil}, // from the cache
	{"/api/v1/user/1", nil},
	{"/api/v1/user/1", nil},
	{"/api/v1/user/ada", nil},
	{"/api/v1/nothing", nil},
}

// volatile matches the parts that differ between two runs: IDs, times and durations.
var volatile = []*regexp.Regexp{
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
	regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`),
	regexp.MustCompile(`"id":"\d+"`),
	regexp.MustCompile(`"duration":\d+`),
}

// runSteps runs the service with env and returns its responses without volatile parts.
func runSteps(t *testing.T, env ...string) []string {
	t.Helper()
	p := launch(t, t.TempDir(), append(env, "PLINTH_DRAIN_DELAY=0s", "LOG_DIR=none")...).ready()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	var first struct{ Data struct{ ID string } }
	responses := make([]string, len(steps))
	for i, s := range steps {
		path := s.path
		if strings.HasSuffix(path, "/") {
			path += first.Data.ID
		}
		status, text, err := send(t.Context(), client, p.url+path, s.body)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if err := json.Unmarshal([]byte(text), &first); err != nil || first.Data.ID == "" {
				t.Fatalf("%s = %s, want a user with an ID", path, text)
			}
		}
		for _, re := range volatile {
			text = re.ReplaceAllString(text, "~")
		}
		responses[i] = fmt.Sprintf("%d %s", status, text)
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code = %d:\n%s", code, p.out.String())
	}
	return responses
}

// environment returns the variables for a database. Its tables are dropped when the test
// completes.
func environment(t *testing.T, name string, parts driver.Config) []string {
	t.Helper()
	return variables(name, parts, tablePrefix(t, name, parts))
}

// tablePrefix returns a unique prefix, whose tables are dropped after the test.
func tablePrefix(t *testing.T, name string, parts driver.Config) string {
	t.Helper()
	prefix := fmt.Sprintf("uc%d_", time.Now().UnixNano()%1e9)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		db, err := xdb.Open(ctx, xdb.Options{Driver: name, Parts: parts, TablePrefix: prefix})
		if err != nil {
			t.Error(err)
			return
		}
		err = db.Migrator().DropTable(
			prefix+"users", prefix+"plinth_migrations", prefix+"plinth_leases")
		if err != nil {
			t.Error(err)
		}
		if err := xdb.Close(db); err != nil {
			t.Error(err)
		}
	})
	return prefix
}

func variables(name string, parts driver.Config, prefix string) []string {
	env := make([]string, 0, 7)
	for key, value := range map[xenv.EnvKey]string{
		xenv.DatabaseDriver: name,
		xenv.DatabaseHost:   parts.Host,
		xenv.DatabasePort:   strconv.Itoa(parts.Port),
		xenv.DatabaseUser:   parts.User,
		xenv.DatabasePass:   parts.Pass,
		xenv.DatabaseName:   parts.Name,
		xenv.DatabasePrefix: prefix,
	} {
		env = append(env, key.String()+"="+value)
	}
	return env
}

// postgresParts parses the DSN of a PostgreSQL server.
func postgresParts(t *testing.T, dsn string) driver.Config {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	pass, _ := u.User.Password()
	return driver.Config{
		Host: u.Hostname(), Port: parsePort(t, u.Port()), User: u.User.Username(),
		Pass: pass, Name: strings.TrimPrefix(u.Path, "/"),
	}
}

// mysqlParts parses the DSN of a MySQL or MariaDB server.
func mysqlParts(t *testing.T, dsn string) driver.Config {
	t.Helper()
	c, err := mysqllib.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	host, port, _ := strings.Cut(c.Addr, ":")
	return driver.Config{
		Host: host, Port: parsePort(t, port), User: c.User, Pass: c.Passwd, Name: c.DBName,
	}
}

func parsePort(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestConversation_Databases(t *testing.T) {
	t.Parallel()
	want := runSteps(t) // SQLite, the default
	for _, tc := range []struct {
		name  string
		parts func(*testing.T, string) driver.Config
	}{
		{name: "postgres", parts: postgresParts},
		{name: "mysql", parts: mysqlParts},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			server := dbtest.FindServer(t, tc.name)
			compare(t, runSteps(t, environment(t, tc.name, tc.parts(t, server.DSN))...), want)
		})
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	for i, s := range steps {
		if got[i] != want[i] {
			t.Errorf("%s %v:\n got %s\nwant %s", s.path, s.body, got[i], want[i])
		}
	}
}
