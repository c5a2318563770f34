package service

import (
	"context"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/examples/grpc/internal/logic"
	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/utility"
)

// authenticate lets in who shows the id and the secret of an application. It asks the
// database at every call: an application that is deleted is out at once.
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
		return nil, xerror.Wrap(xerror.ValidationError, "app_access_id is not an id", err)
	}
	if _, err = logic.VerifyApp(ctx, id, secret); err != nil {
		return nil, err
	}
	return ctx, nil
}
