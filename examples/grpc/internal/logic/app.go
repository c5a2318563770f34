package logic

import (
	"context"
	"errors"
	"strings"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/examples/grpc/internal/entity"
	"github.com/plinthgo/plinth/examples/grpc/internal/repository"
)

// maxAppName is the size of the column.
const maxAppName = 64

// nobody is compared with where there is no application: the length of a digest, and the
// digest of nothing.
var nobody = strings.Repeat("g", 64)

// errApp answers a wrong id and a wrong secret alike.
var errApp = xerror.New(xerror.Unauthorized, "the application is not known, or its secret is wrong")

// CreateApp makes an application and returns it with its secret, of which nothing but the
// digest is kept.
//
// SHA-256 is enough: the secret is 256 random bits, which nobody can guess, however fast
// the digest is. A slow hash, as passwords have it, would cost every call some 20 ms for
// nothing.
func CreateApp(ctx context.Context, name string) (app *entity.App, secret string, err error) {
	if !readable(name) || name == "" || len(name) > maxAppName {
		return nil, "", xerror.New(xerror.ParameterError,
			"the name of an application has 1 to 64 bytes that can be printed")
	}
	secret = xutil.Security().GenerateLongKey()
	app = &entity.App{Name: name, Secret: xutil.Encryption().SHA256(secret)}
	if err := repository.Create(ctx, app); err != nil {
		return nil, "", err
	}
	return app, secret, nil
}

// VerifyApp returns the application that has this id and this secret.
//
// An id that is not known takes the way of one that is, and neither answer nor comparison
// tell which of the two was wrong.
func VerifyApp(ctx context.Context, id xsnowflake.SnowflakeID, secret string) (*entity.App, error) {
	app, err := repository.ByID[entity.App](ctx, id)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		app, err = &entity.App{Secret: nobody}, nil
	}
	if err != nil {
		return nil, err
	}
	if !xutil.Security().Equal(xutil.Encryption().SHA256(secret), app.Secret) {
		return nil, errApp
	}
	return app, nil
}
