package service

import (
	"context"

	xError "github.com/plinthgo/plinth/core/common/xerror"
	xSnowflake "github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/examples/grpc/internal/logic"
	xGrpcConst "github.com/plinthgo/plinth/grpcx/constant"
	xGrpcUtil "github.com/plinthgo/plinth/grpcx/utility"
)

// authenticate lets in who shows the id and the secret of an application. It asks the database at every call: an
// application that is deleted is out at once.
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
	if _, err = logic.VerifyApp(ctx, id, secret); err != nil {
		return nil, err
	}
	return ctx, nil
}
