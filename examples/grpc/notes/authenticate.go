package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"gorm.io/gorm"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	xUtil "github.com/plinthgo/plinth/core/common/xutil"
	xDB "github.com/plinthgo/plinth/core/major/xdb"
	xModels "github.com/plinthgo/plinth/core/major/xmodels"
	xReg "github.com/plinthgo/plinth/core/major/xreg"
	xGrpcConst "github.com/plinthgo/plinth/grpcx/constant"
	xGrpcUtil "github.com/plinthgo/plinth/grpcx/utility"
)

// App is an application that may call. Digest is the SHA-256 of its secret: 256 random bits need no slower hash.
type App struct {
	xModels.BaseEntity
	Digest string `gorm:"size:64;not null"`
}

// authenticate lets in who shows the id and the secret of an application.
func authenticate(ctx context.Context) (context.Context, error) {
	access, missing := xGrpcUtil.ExtractMetadata(ctx, xGrpcConst.MetadataAppAccessID)
	if missing != nil {
		return nil, missing
	}
	secret, missing := xGrpcUtil.ExtractMetadata(ctx, xGrpcConst.MetadataAppSecretKey)
	if missing != nil {
		return nil, missing
	}
	id, err := xSnowflake.ParseSnowflakeID(access)
	if err != nil {
		return nil, xError.Wrap(xError.ValidationError, "app_access_id is not an id", err)
	}
	if err := verify(ctx, id, secret); err != nil {
		return nil, err
	}
	return ctx, nil
}

// verify compares in constant time, also where there is nobody, and does not say which of the two was wrong.
func verify(ctx context.Context, id xSnowflake.SnowflakeID, secret string) error {
	app := App{Digest: strings.Repeat("-", 64)} // which no secret has
	err := xDB.MustGetDB(ctx).Where("id = ?", id).Take(&app).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return err
	}
	if !xUtil.Security().Equal(xUtil.Encryption().SHA256(secret), app.Digest) {
		return xError.New(xError.Unauthorized, "the application is not known, or its secret is wrong")
	}
	return nil
}

// createApp makes an application and prints its secret, which is not kept.
func createApp(reg *xReg.Reg) {
	secret := xUtil.Security().GenerateLongKey()
	app := App{Digest: xUtil.Encryption().SHA256(secret)}
	err := xDB.MustGetDB(reg.Init.Ctx).Create(&app).Error
	if err = errors.Join(err, reg.Close(context.Background())); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintf(os.Stdout, "export APP_ACCESS_ID=%s APP_SECRET_KEY=%s\n", app.ID, secret)
}
