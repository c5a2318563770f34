package service

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/examples/grpc/internal/logic"
	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/utility"
)

// authenticate checks the ID and the secret of the calling application. It reads the
// database on each call, so deleting an application is effective immediately.
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
	if _, err = logic.VerifyApp(ctx, id, secret); err != nil {
		return nil, err
	}
	return ctx, nil
}
