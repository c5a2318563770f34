package openapix_test

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xapi"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/openapix"
	"github.com/plinthgo/plinth/openapix/internal/testtypes"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	runMain(m)
}

// The fixture is a shop that has one route of each kind.

var outOfStock = xerror.MustErrorCode(40970, "OUT_OF_STOCK", "The article is out of stock", "商品缺货")

// createUser is the input of a route with a JSON body.
type createUser struct {
	Username string            `json:"username" binding:"required,min=3,max=32,alphanum_underscore" doc:"Login name." example:"ada"`
	Email    string            `json:"email" binding:"omitempty,email,max=254" example:"ada@example.com"`
	Age      *int8             `json:"age,omitempty" binding:"omitempty,gte=18" example:"36"`
	Role     string            `json:"role" binding:"oneof=admin member guest"`
	Tags     []string          `json:"tags" binding:"max=5,unique,dive,min=2" example:"new,vip"`
	Labels   map[string]string `json:"labels" binding:"max=3,dive,keys,alphanum,endkeys,required"`
	Address  address           `json:"address"`
	Password string            `json:"password" binding:"required,min=8"`
	Repeat   string            `json:"repeat" binding:"eqfield=Password"`
}

type address struct {
	Street string      `json:"street" binding:"required"`
	City   string      `json:"city"`
	Point  *[2]float64 `json:"point"`
}

type user struct {
	xmodels.BaseEntity
	Username string          `json:"username"`
	Email    *string         `json:"email"`
	Address  *address        `json:"address,omitempty"`
	Groups   []group         `json:"groups"`
	Settings json.RawMessage `json:"settings,omitzero"`
	Avatar   []byte          `json:"avatar,omitempty"`
	Timeout  time.Duration   `json:"timeout"`
	Score    float64         `json:"score,string"`
	Token    uuid.UUID       `json:"token"`
	Location string          `header:"Location" json:"-" doc:"URL of the user."`
	// Nickname is the former name.
	Nickname string `json:"nickname,omitempty"`
}

// group is recursive.
type group struct {
	Name   string  `json:"name" binding:"required"`
	Parent *group  `json:"parent,omitempty"`
	Groups []group `json:"groups,omitempty"`
}

type userID struct {
	ID xsnowflake.SnowflakeID `uri:"id" binding:"required" doc:"ID of the user."`
}

type updateUser struct {
	userID
	Trace   string  `header:"X-Trace" binding:"max=64"`
	DryRun  bool    `form:"dry_run,default=false"`
	Name    string  `json:"name" binding:"required"`
	Group   *group  `json:"group" binding:"required"`
	Version int64   `json:"version,string"`
	Limit   float32 `json:"limit" binding:"gt=0,lte=1"`
}

type listUsers struct {
	xmodels.StrictPageRequest
	Since  time.Time     `form:"since" time_format:"2006-01-02" example:"2026-01-31"`
	IDs    []int         `form:"ids" collection_format:"csv" binding:"max=10,dive,gt=0" example:"1,2"`
	Status string        `form:"status,default=all" binding:"oneof=all active"`
	Wait   time.Duration `form:"wait"`
}

type avatar struct {
	userID
	File *xapi.File   `form:"file" binding:"required"`
	Docs []*xapi.File `form:"docs"`
	Note string       `form:"note" binding:"max=100"`
}

type login struct {
	xapi.Form
	Name string `form:"name" binding:"required"`
	Code int    `form:"code" binding:"required,min=1000"`
}

type importUsers struct {
	Upload *xapi.Upload
}

type putFile struct {
	Path string `uri:"path"`
	Raw  *xapi.Raw
}

type event struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
}

type users struct{}

func (users) Create(context.Context, *createUser) (*user, error) { return &user{}, nil }

func (users) List(context.Context, *listUsers) (*xmodels.PageResponse[user], error) {
	return xmodels.NewPage[user](1, 20, 0, nil), nil
}

func getUser(context.Context, *userID) (*user, error) {
	return nil, xerror.New(xerror.UserNotFound, "")
}

func (users) Update(context.Context, *updateUser) (*user, error) { return &user{}, nil }

func deleteUser(context.Context, *userID) (xapi.Empty, error) { return xapi.Empty{}, nil }

func setAvatar(context.Context, *avatar) (xapi.Empty, error) { return xapi.Empty{}, nil }

func getAvatar(context.Context, *struct{}) (*xapi.Download, error) { return nil, nil }

func signIn(context.Context, *login) (string, error) { return "", nil }

func importAll(context.Context, *importUsers) (int, error) { return 0, nil }

func storeFile(context.Context, *putFile) (xapi.Empty, error) { return xapi.Empty{}, nil }

func events(context.Context, *struct{}) (iter.Seq2[event, error], error) {
	return func(func(event, error) bool) {}, nil
}

func groups(context.Context, *group) ([]testtypes.Group, error) { return nil, nil }

func routes(_ context.Context, engine *gin.Engine) {
	v1 := xapi.Group(engine, "/api/v1", xapi.Tag("users"), xapi.Security("bearer"))
	xapi.Post(v1, "/users", users{}.Create, xapi.Status(http.StatusCreated),
		xapi.Errors(xerror.Existed, xerror.DuplicateEntry, outOfStock))
	xapi.Get(v1, "/users", users{}.List)
	xapi.Get(v1, "/users/:id", getUser, xapi.Errors(xerror.UserNotFound))
	xapi.Put(v1, "/users/:id", users{}.Update, xapi.Errors(xerror.UserNotFound),
		xapi.Summary("Change a user"), xapi.Deprecated())
	xapi.Delete(v1, "/users/:id", deleteUser, xapi.Errors(xerror.UserNotFound))
	xapi.Put(v1, "/users/:id/avatar", setAvatar)
	xapi.Get(v1, "/users/:id/avatar", getAvatar, xapi.Errors(xerror.FileNotFound))
	xapi.Post(v1, "/users/import", importAll)
	xapi.Post(v1, "/groups", groups, xapi.Tag("groups"))
	xapi.Post(engine, "/login", signIn, xapi.Tag("login"),
		xapi.Errors(xerror.LoginFailed, xerror.TooManyRequests))
	xapi.Get(engine, "/events", events, xapi.Tag("events"))
	xapi.Put(engine, "/files/*path", storeFile, xapi.Tag("files"), xapi.Security("key", "basic"))
	engine.GET("/legacy/:name", xapi.Describe[struct{}, map[string]int](
		func(*gin.Context) {}, xapi.ID("legacy")))
	xapi.Get(engine, "/internal", getAvatar, xapi.Hidden())
}

// options are the options of the document of the fixture.
func options() []openapix.Option {
	return []openapix.Option{
		openapix.WithTitle("Shop"), openapix.WithVersion("1.2.3"),
		openapix.WithDescription("The API of the shop."),
		openapix.WithServerURL("https://shop.test"),
		openapix.WithTag("users", "Accounts and their files."),
		openapix.WithTag("unused", "The document does not contain it."),
		openapix.WithSecurityScheme("bearer", openapix.Bearer("JWT")),
		openapix.WithSecurityScheme("basic", openapix.Basic()),
		openapix.WithSecurityScheme("key", openapix.APIKey("X-API-Key")),
	}
}

// newEngine returns an engine with the routes that register adds.
func newEngine(register func(context.Context, *gin.Engine)) *gin.Engine {
	engine := gin.New()
	register(context.Background(), engine)
	return engine
}
