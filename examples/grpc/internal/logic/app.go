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

const maxAppName = 64

// invalidDigest has the length of a digest but is not one. VerifyApp compares the secrets
// of unknown applications with it.
var invalidDigest = strings.Repeat("g", 64)

// errApp is returned for a wrong ID and for a wrong secret.
var errApp = xerror.New(xerror.Unauthorized, "unknown application or wrong secret")

// CreateApp creates an application and returns it with its secret. Only the digest of the
// secret is stored.
//
// SHA-256 is sufficient, because a secret of 256 random bits cannot be guessed. A slow
// password hash would add about 20 ms to each call.
func CreateApp(ctx context.Context, name string) (app *entity.App, secret string, err error) {
	if !readable(name) || name == "" || len(name) > maxAppName {
		return nil, "", xerror.New(xerror.ParameterError,
			"the application name must have 1 to 64 printable bytes")
	}
	secret = xutil.Security().GenerateLongKey()
	app = &entity.App{Name: name, Secret: xutil.Encryption().SHA256(secret)}
	if err := repository.Create(ctx, app); err != nil {
		return nil, "", err
	}
	return app, secret, nil
}

// VerifyApp returns the application with this ID and secret. An unknown ID and a wrong
// secret have the same error and the same duration.
func VerifyApp(ctx context.Context, id xsnowflake.SnowflakeID, secret string) (*entity.App, error) {
	app, err := repository.ByID[entity.App](ctx, id)
	if errors.Is(err, gorm.ErrRecordNotFound) {
		app, err = &entity.App{Secret: invalidDigest}, nil
	}
	if err != nil {
		return nil, err
	}
	if !xutil.Security().Equal(xutil.Encryption().SHA256(secret), app.Secret) {
		return nil, errApp
	}
	return app, nil
}
