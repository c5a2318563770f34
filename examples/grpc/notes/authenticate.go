package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/common/xutil"
	"github.com/plinthgo/plinth/core/major/xdb"
	"github.com/plinthgo/plinth/core/major/xmodels"
	"github.com/plinthgo/plinth/core/major/xreg"
	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/utility"
)

// App is a client application. Digest is the SHA-256 of its secret: 256 random bits need
// no slower hash.
type App struct {
	xmodels.BaseEntity
	Digest string `gorm:"size:64;not null"`
}

// authenticate checks the ID and the secret of the calling application.
func authenticate(ctx context.Context) (context.Context, error) {
	access, missing := utility.ExtractMetadata(ctx, constant.MetadataAppAccessID)
	if missing != nil {
		return nil, missing
	}
	secret, missing := utility.ExtractMetadata(ctx, constant.MetadataAppSecretKey)
	if missing != nil {
		return nil, missing
	}
	id, err := xsnowflake.ParseSnowflakeID(access)
	if err != nil {
		return nil, xerror.Wrap(xerror.ValidationError, "app_access_id is not a valid id", err)
	}
	if err := verify(ctx, id, secret); err != nil {
		return nil, err
	}
	return ctx, nil
}

// verify compares in constant time, even for an unknown ID, and returns the same error
// for a wrong ID and a wrong secret.
func verify(ctx context.Context, id xsnowflake.SnowflakeID, secret string) error {
	app := App{Digest: strings.Repeat("-", 64)} // matches no secret
	err := xdb.MustGetDB(ctx).Where("id = ?", id).Take(&app).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return err
	}
	if !xutil.Security().Equal(xutil.Encryption().SHA256(secret), app.Digest) {
		return xerror.New(xerror.Unauthorized,
			"unknown application or wrong secret")
	}
	return nil
}

// createApp creates an application and prints its secret, which is not stored.
func createApp(reg *xreg.Reg) {
	secret := xutil.Security().GenerateLongKey()
	app := App{Digest: xutil.Encryption().SHA256(secret)}
	err := xdb.MustGetDB(reg.Init.Ctx).Create(&app).Error
	if err = errors.Join(err, reg.Close(context.Background())); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintf(os.Stdout, "export APP_ACCESS_ID=%s APP_SECRET_KEY=%s\n", app.ID, secret)
}
