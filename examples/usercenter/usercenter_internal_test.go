package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xlease"
	"github.com/plinthgo/plinth/core/common/xlease/driver"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/plinthtest"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/examples/usercenter/internal/entity"
)

const (
	register = "/api/v1/user/register"
	login    = "/api/v1/user/login"
	password = "correct horse"
)

// person returns the registration request of a new user.
func person(name string) gin.H {
	return gin.H{"username": name, "email": name + "@example.org", "password": password}
}

// user is the response to a client.
type user struct {
	ID        xsnowflake.SnowflakeID `json:"id"`
	Username  string                 `json:"username"`
	Email     string                 `json:"email"`
	CreatedAt string                 `json:"created_at"`
}

func TestRegister_Login(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, options()...)
	var created, seen user
	r := app.Request(http.MethodPost, register, person("ada"))
	if r.Into(&created); r.Status() != http.StatusOK || r.Output() != "Success" || r.Code() != 200 {
		t.Fatalf("register = %d %s", r.Status(), r.Body())
	}
	if created.ID.Gene() != xsnowflake.GeneUser || created.Username != "ada" ||
		created.Email != "ada@example.org" || created.CreatedAt == "" {
		t.Errorf("user = %+v", created)
	}
	r = app.Request(http.MethodPost, login, gin.H{"username": "ada", "password": password})
	if r.Into(&seen); r.Status() != http.StatusOK || seen.ID != created.ID {
		t.Errorf("login = %d %s, want user %s", r.Status(), r.Body(), created.ID)
	}
	if strings.Contains(r.Body(), "assword") {
		t.Errorf("login = %s, want no password", r.Body())
	}
}

func TestRegister(t *testing.T) {
	t.Parallel()

	t.Run("validates the request", func(t *testing.T) {
		t.Parallel()
		app := plinthtest.New(t, options()...)
		for i, tc := range []struct {
			name                      string
			username, email, password string
			field                     string
		}{
			{name: "shortest", username: "abc", password: "secret"},
			{
				name: "longest", username: strings.Repeat("ü", 32),
				password: strings.Repeat("ü", 256),
			},
			{name: "name too short", username: "ab", password: "secret", field: "username"},
			{
				name: "name too long", username: strings.Repeat("a", 33), password: "secret",
				field: "username",
			},
			{name: "missing name", password: "secret", field: "username"},
			{name: "password too short", username: "abcd", password: "12345", field: "password"},
			{
				name: "password too long", username: "abcd",
				password: strings.Repeat("x", 257), field: "password",
			},
			{
				name: "malformed address", username: "abcd", email: "invalid", password: "secret",
				field: "email",
			},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				if tc.email == "" {
					tc.email = fmt.Sprintf("n%d@example.org", i)
				}
				r := app.Request(http.MethodPost, register,
					gin.H{"username": tc.username, "email": tc.email, "password": tc.password})
				if tc.field == "" {
					if r.Status() != http.StatusOK {
						t.Errorf("register = %d %s, want success", r.Status(), r.Body())
					}
					return
				}
				var failures []struct{ Field string }
				if r.Into(&failures); r.Code() != xerror.BodyError.GetCode() ||
					len(failures) != 1 ||
					failures[0].Field != tc.field {
					t.Errorf("register = %d %s, want a failure of %s",
						r.Status(), r.Body(), tc.field)
				}
			})
		}
	})

	t.Run("stores only a hash of the password", func(t *testing.T) {
		t.Parallel()
		app := plinthtest.New(t, options()...)
		bodies := app.Request(http.MethodPost, register, person("ada")).Body() +
			app.Request(http.MethodPost, login,
				gin.H{"username": "ada", "password": password}).Body() +
			app.Request(http.MethodPost, login,
				gin.H{"username": "ada", "password": password + "!"}).Body() +
			app.Request(http.MethodPost, register,
				gin.H{"username": "x", "email": "x", "password": password}).Body()

		var row entity.User
		if err := xdb.MustGetDB(app.Context()).Take(&row, "username = ?", "ada").Error; err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(row.Password, "$argon2id$") {
			t.Errorf("stored password = %q, want an argon2id hash", row.Password)
		}
		for _, secret := range []string{password, row.Password} {
			if strings.Contains(bodies, secret) || strings.Contains(app.LogText(), secret) {
				t.Errorf("a response or the log contains %q", secret)
			}
		}
	})

	t.Run("accepts one of many concurrent requests", func(t *testing.T) {
		t.Parallel()
		app := plinthtest.New(t, options()...)
		const many = 50
		outputs := make([]string, many)
		var wg sync.WaitGroup
		for i := range many {
			wg.Go(func() {
				p := person("ada") // one name for all, one address for half of them
				if i%2 == 0 {
					p["email"] = fmt.Sprintf("ada%d@example.org", i)
				}
				outputs[i] = app.Request(http.MethodPost, register, p).Output()
			})
		}
		wg.Wait()
		count := map[string]int{}
		for _, o := range outputs {
			count[o]++
		}
		if count["Success"] != 1 || count["EXISTED"] != many-1 {
			t.Errorf("outputs = %v, want one Success and %d EXISTED", count, many-1)
		}
	})
}

func TestErrorCodes(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, options()...)
	app.Request(http.MethodPost, register, person("ada"))
	sameMail := person("eve")
	sameMail["email"] = "ada@example.org"
	sameMailInCapitals := person("mallory")
	sameMailInCapitals["email"] = "ADA@example.org"
	for _, tc := range []struct {
		name string
		path string
		body any
		want *xerror.ErrorCode
	}{
		{name: "existing username", path: register, body: person("ada"), want: xerror.Existed},
		{name: "existing address", path: register, body: sameMail, want: xerror.Existed},
		{
			name: "existing address in another case",
			path: register, body: sameMailInCapitals, want: xerror.Existed,
		},
		{
			name: "unknown user", path: login, body: gin.H{"username": "bob", "password": password},
			want: xerror.UserNotFound,
		},
		{
			name: "wrong password", path: login,
			body: gin.H{"username": "ada", "password": "wrong " + password},
			want: xerror.Unauthorized,
		},
		{name: "malformed JSON", path: login, body: "{", want: xerror.BodyError},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := app.Request(http.MethodPost, tc.path, tc.body)
			if r.Code() != tc.want.GetCode() || r.Status() != tc.want.Status() {
				t.Errorf("response = %d %s, want %d", r.Status(), r.Body(), tc.want.GetCode())
			}
		})
	}
}

func TestJavaProfile(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, options()...)
	created := app.Request(http.MethodPost, "/api/v1/user", person("ada"))
	if created.Code() != 200 || !strings.Contains(created.Body(), `"errorMessage":null`) ||
		!strings.Contains(created.Body(), `"data":null`) {
		t.Errorf("create = %s, want the Java format without data", created.Body())
	}
	var ada, seen user
	app.Request(http.MethodPost, login, gin.H{"username": "ada", "password": password}).Into(&ada)
	for range 2 { // the second time from the cache
		r := app.Request(http.MethodGet, "/api/v1/user/"+ada.ID.String(), nil)
		if r.Into(&seen); seen != ada || !strings.Contains(r.Body(), `"duration":`) ||
			strings.Contains(r.Body(), "argon2id") {
			t.Errorf("get = %s, want %+v in the Java format", r.Body(), ada)
		}
	}
	for _, tc := range []struct {
		name, method, path string
		body               any
		code               int
		output             string
	}{
		{
			name: "unknown user", method: http.MethodGet, path: "/api/v1/user/1",
			code: 40000, output: "NotExist",
		},
		{
			name: "ID null", method: http.MethodGet, path: "/api/v1/user/null",
			code: 40002, output: "ParameterError",
		},
		{
			name: "ID 0", method: http.MethodGet, path: "/api/v1/user/0",
			code: 40002, output: "ParameterError",
		},
		{
			name: "malformed ID", method: http.MethodGet, path: "/api/v1/user/ada",
			code: 40002, output: "ParameterError",
		},
		{
			name: "existing user", method: http.MethodPost, path: "/api/v1/user",
			body: person("ada"), code: 40001, output: "Existed",
		},
		{name: "ping", method: http.MethodGet, path: "/api/ping", code: 200, output: "Success"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := app.Request(tc.method, tc.path, tc.body)
			if r.Code() != tc.code || r.Output() != tc.output ||
				!strings.Contains(r.Body(), `"errorMessage":`) {
				t.Errorf("response = %s, want %d %s", r.Body(), tc.code, tc.output)
			}
		})
	}
}

func TestGet_Cache(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, options()...)
	var ada user
	app.Request(http.MethodPost, register, person("ada")).Into(&ada)
	path := "/api/v1/user/" + ada.ID.String()
	app.Request(http.MethodGet, path, nil)
	err := xdb.MustGetDB(app.Context()).Delete(&entity.User{}, "id = ?", ada.ID).Error
	if err != nil {
		t.Fatal(err)
	}
	if r := app.Request(http.MethodGet, path, nil); r.Status() != http.StatusOK {
		t.Errorf("get = %d %s, want the cached user", r.Status(), r.Body())
	}
	app.Clock().Advance(time.Hour)
	if r := app.Request(http.MethodGet, path, nil); r.Output() != "NotExist" {
		t.Errorf("get after an hour = %d %s, want NotExist", r.Status(), r.Body())
	}
}

func TestPing(t *testing.T) {
	t.Parallel()
	r := plinthtest.New(t, options()...).Request(http.MethodGet, "/ping", nil)
	if r.Status() != http.StatusOK || r.Body() != `{"message":"pong"}` {
		t.Errorf("/ping = %d %s", r.Status(), r.Body())
	}
}

func TestLeases_Transaction(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, options()...)
	leases := xlease.MustGetLeases(app.Context())
	err := xdb.Transaction(app.Context(), func(ctx context.Context) error {
		if err := xdb.MustGetDB(ctx).Create(&entity.User{Username: "ada"}).Error; err != nil {
			return err
		}
		return leases.Do(ctx, "job",
			time.Minute, func(context.Context, *xlease.Lease) error { return nil })
	})
	if err != nil || leases.Capabilities().Scope != driver.Process {
		t.Errorf("leases of %s = %v", leases, err)
	}
}

func TestStartup_Order(t *testing.T) {
	t.Parallel()
	var order []any
	for _, line := range plinthtest.New(t, options()...).LogsOf("started") {
		order = append(order, line["part"])
	}
	want := []any{"database", "cache", "leases", "snowflake", "database schema"}
	if !slices.Equal(order, want) {
		t.Errorf("order = %v, want %v", order, want)
	}
}

func TestReadyz(t *testing.T) {
	t.Parallel()
	r := plinthtest.New(t, options()...).Request(http.MethodGet, "/readyz", nil)
	var got struct {
		Nodes []struct {
			Name string
			OK   bool
		}
	}
	r.JSON(&got)
	if r.Status() != http.StatusOK || len(got.Nodes) != 3 || got.Nodes[0].Name != "database" ||
		got.Nodes[1].Name != "cache" {
		t.Errorf("/readyz = %d %s, want database, cache and ID node", r.Status(), r.Body())
	}
}

func TestUser_Create_WithoutContext(t *testing.T) {
	t.Parallel()
	app := plinthtest.New(t, options()...)
	db := xdb.MustGetDB(app.Context()).WithContext(context.Background())
	u := entity.User{Username: "job", Email: "job@example.org", Password: "x"}
	if err := db.Create(&u).Error; err != nil || u.ID.Gene() != xsnowflake.GeneUser {
		t.Errorf("Create = %v with the ID %d, want an ID of the application's node", err, u.ID)
	}
	if node, _ := xsnowflake.GetNode(app.Context()); node.NodeID() != u.ID.NodeID() ||
		node.DatacenterID() != u.ID.DatacenterID() {
		t.Errorf("ID of node %d/%d, want %d/%d",
			u.ID.DatacenterID(), u.ID.NodeID(), node.DatacenterID(), node.NodeID())
	}
}
