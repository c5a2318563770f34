package xbind_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xbind"
)

type page struct {
	Page int `json:"pageNumber" form:"page" binding:"omitempty,gte=1"`
	Size int `form:"size,default=20" binding:"lte=200"`
}

type search struct {
	page
	Words  []string               `form:"w" binding:"dive,max=5"`
	IDs    []int8                 `form:"id"`
	Since  time.Time              `form:"since" time_format:"2006-01-02"`
	Until  time.Time              `form:"until"`
	At     []time.Time            `form:"at" time_format:"unixMilli"`
	Within time.Duration          `form:"within"`
	Owner  xsnowflake.SnowflakeID `form:"owner"`
	Deep   struct {
		Flag *bool `form:"flag"`
	}
}

type path struct {
	ID   int64  `uri:"id"   binding:"snowflake"`
	Name string `uri:"name" binding:"alphanum_underscore"`
}

type headers struct {
	Tenant string `header:"x-tenant" binding:"required,min=3"`
	Limit  *uint8 `header:"X-Limit"`
}

func withQuery(query string) *gin.Context {
	c := request("")
	c.Request.URL.RawQuery = query
	return c
}

func withPath(params ...string) *gin.Context {
	c := request("")
	for i := 0; i < len(params); i += 2 {
		c.Params = append(c.Params, gin.Param{Key: params[i], Value: params[i+1]})
	}
	return c
}

func TestBinder_Query(t *testing.T) {
	got := xbind.Bind(withQuery("page=2&w=a&w=b&id=1&id=-1&since=2024-02-29&within=1m&flag=true"),
		&search{}).Query()
	yes := true
	want := &search{
		page: page{2, 20}, Words: []string{"a", "b"}, IDs: []int8{1, -1},
		Within: time.Minute,
	}
	want.Since = time.Date(2024, 2, 29, 0, 0, 0, 0, time.Local)
	want.Deep.Flag = &yes
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(search{})); diff != "" {
		t.Errorf("Query (-want +got):\n%s", diff)
	}
	m := xbind.Bind(withQuery("a=1"), new(map[string]string)).Query()
	if m == nil || (*m)["a"] != "1" {
		t.Errorf("map: %v", m)
	}
}

func TestBinder_URI(t *testing.T) {
	got := xbind.Bind(withPath("id", "42", "name", "ada_l"), &path{}).URI()
	if got == nil || *got != (path{42, "ada_l"}) {
		t.Errorf("URI = %v", got)
	}
}

func TestBinder_Header(t *testing.T) {
	got := xbind.Bind(request("", "X-Tenant", "acme", "X-Limit", "7"), &headers{}).Header()
	if got == nil || got.Tenant != "acme" || *got.Limit != 7 {
		t.Errorf("Header = %v", got)
	}
}

func TestBinder_Header_Map(t *testing.T) {
	c := request("", "X-Tenant", "acme")
	if got := xbind.Bind(c, &map[string]string{}).Header(); got == nil ||
		(*got)["X-Tenant"] != "acme" {
		t.Errorf("Header() = %v, want the header X-Tenant", got)
	}
}

func TestBind_ParameterErrors(t *testing.T) {
	query := func(q string) func() *gin.Context {
		return func() *gin.Context {
			c := withQuery(q)
			if xbind.Bind(c, &search{}).Query() != nil {
				return nil
			}
			return c
		}
	}
	uri := func(params ...string) func() *gin.Context {
		return func() *gin.Context {
			c := withPath(params...)
			if xbind.Bind(c, &path{}).URI() != nil {
				return nil
			}
			return c
		}
	}
	header := func(h ...string) func() *gin.Context {
		return func() *gin.Context {
			c := request("", h...)
			if xbind.Bind(c, &headers{}).Header() != nil {
				return nil
			}
			return c
		}
	}
	for _, tc := range []struct {
		name    string
		bind    func() *gin.Context
		code    *xerror.ErrorCode
		message string
		fields  string
	}{
		{
			"query rule", query("page=-1"), xerror.ParameterError, "page must be 1 or greater",
			"page:gte",
		},
		{
			"query rules", query("page=-1&size=201&w=a&w=toolong"), xerror.ParameterError, "page",
			"page:gte size:lte w[1]:max",
		},
		{
			"query type", query("page=" + secret), xerror.ParameterType, "page must be an integer",
			"page:type",
		},
		{
			"query types",
			query("page=x&size=5&id=1&id=300&since=" + secret + "&within=x&flag=perhaps"),
			xerror.ParameterType, "page must be an integer",
			"page:type id:type since:type within:type flag:type",
		},
		{
			"query type of an element", query("id=300"), xerror.ParameterType,
			"id must be an integer from -128 to 127", "id:type",
		},
		{
			"query time", query("since=" + secret), xerror.ParameterType,
			"since must be a time such as 2006-01-02", "since:type",
		},
		{
			"query time of the usual format", query("until=" + secret), xerror.ParameterType,
			"until must be a time (RFC 3339)", "until:type",
		},
		{
			"query time in a list", query("at=7&at=x"), xerror.ParameterType,
			"at must be a Unix time in milliseconds", "at:type",
		},
		{
			"invalid id in the query", query("owner=-5"), xerror.ParameterType,
			"owner must be a valid id", "owner:type",
		},
		{"query malformed", query("page=%zz" + secret), xerror.ParameterError, "malformed", ""},
		{
			"path rule", uri("id", "0", "name", "a"), xerror.ParameterError,
			"id must be a valid id", "id:snowflake",
		},
		{
			"path type", uri("id", secret, "name", "a"), xerror.ParameterType,
			"id must be an integer", "id:type",
		},
		{
			"path value", uri("id", "1", "name", secret), xerror.ParameterError, "name may contain",
			"name:alphanum_underscore",
		},
		{
			"header rule", header("X-Tenant", "a"), xerror.HeaderError,
			"x-tenant must be at least 3", "x-tenant:min",
		},
		{
			"header missing", header(), xerror.HeaderError, "x-tenant is a required field",
			"x-tenant:required",
		},
		{
			"header type", header("X-Tenant", "acme", "X-Limit", "256"), xerror.HeaderType,
			"X-Limit must be an integer from 0 to 255", "X-Limit:type",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := tc.bind()
			if c == nil {
				t.Fatal("accepted")
			}
			e := reported(t, c)
			if e.GetErrorCode() != tc.code || failedFields(e) != tc.fields ||
				!strings.Contains(string(e.GetErrorMessage()), tc.message) {
				t.Errorf("reported %v with %q, want %v, %q, %q",
					e, failedFields(e), tc.code, tc.message, tc.fields)
			}
			output := fmt.Sprint(e.Error(), e.GetErrorMessage(), e.GetData())
			if strings.Contains(output, secret) {
				t.Errorf("%q contains the value", output)
			}
		})
	}
}
