package middleware_test

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/grpcx/constant"
	pb "github.com/plinthgo/plinth/grpcx/internal/testproto"
	"github.com/plinthgo/plinth/grpcx/middleware"
	"github.com/plinthgo/plinth/grpcx/utility"
)

// verify represents the application's credential check.
func verify(_ context.Context, id xsnowflake.SnowflakeID, secret string) *xerror.Error {
	if id != 1024 || secret != "cs_7" {
		return xerror.New(xerror.Unauthorized, "")
	}
	return nil
}

// authenticate rejects unknown applications.
func authenticate(
	ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler,
) (any, error) {
	id, missing := utility.ExtractMetadata(ctx, constant.MetadataAppAccessID)
	if missing != nil {
		return nil, missing
	}
	application, err := xsnowflake.ParseSnowflakeID(id)
	if err != nil {
		return nil, xerror.Wrap(xerror.ValidationError, "app_access_id is not a valid ID", err)
	}
	secret, missing := utility.ExtractMetadata(ctx, constant.MetadataAppSecretKey)
	if missing != nil {
		return nil, missing
	}
	if denied := verify(ctx, application, secret); denied != nil {
		return nil, denied
	}
	return next(ctx, request)
}

func ExampleUseUnary() {
	middleware.UseUnary(pb.TestService_ServiceDesc, authenticate)

	call := func(pairs ...string) {
		ctx := metadata.NewIncomingContext(context.Background(), metadata.Pairs(pairs...))
		chain := middleware.Default.Unary("plinth.grpcx.testproto.TestService")
		response, err := chain(ctx, "request", nil,
			func(context.Context, any) (any, error) { return "response", nil })
		fmt.Println(response, err)
	}
	call()
	call("app_access_id", "1024", "app_secret_key", "cs_6")
	call("app_access_id", "1024", "app_secret_key", "cs_7")
	// Output:
	// <nil> NOT_EXIST: metadata "app_access_id" is missing
	// <nil> UNAUTHORIZED
	// response <nil>
}

func ExampleExtractServiceName() {
	fmt.Println(middleware.ExtractServiceName("/shop.v1.Orders/Place"))
	// Output: shop.v1.Orders
}

// requireTenant rejects calls without a tenant.
func requireTenant(ctx context.Context) (context.Context, error) {
	if _, missing := utility.ExtractMetadata(ctx, "shop_tenant"); missing != nil {
		return nil, missing
	}
	return ctx, nil
}

func ExampleGuard() {
	unary, stream := middleware.Guard(requireTenant)
	middleware.UseUnary(pb.TestService_ServiceDesc, unary)
	middleware.UseStream(pb.TestService_ServiceDesc, stream)

	_, err := unary(context.Background(), "request", nil,
		func(context.Context, any) (any, error) { return "response", nil })
	fmt.Println(err)
	// Output: NOT_EXIST: metadata "shop_tenant" is missing
}
