package utility_test

import (
	"context"
	"fmt"

	"google.golang.org/grpc/metadata"

	"github.com/plinthgo/plinth/grpcx/constant"
	"github.com/plinthgo/plinth/grpcx/utility"
)

func ExampleExtractMetadata() {
	const tenant constant.Metadata = "shop_tenant"

	handle := func(ctx context.Context) error {
		id, err := utility.ExtractMetadata(ctx, tenant)
		if err != nil {
			return err
		}
		fmt.Println("tenant", id, "called by", utility.Source(ctx))
		return nil
	}

	ctx := metadata.NewIncomingContext(context.Background(),
		metadata.Pairs("shop-tenant", "7", "x_request_source", "orders"))
	fmt.Println(handle(ctx))
	fmt.Println(handle(context.Background()))
	// Output:
	// tenant 7 called by orders
	// <nil>
	// NOT_EXIST: metadata "shop_tenant" is missing
}

// A client sends the access ID and the secret key of its application.
func Example_client() {
	ctx := metadata.AppendToOutgoingContext(context.Background(),
		constant.MetadataAppAccessID.String(), "1024",
		constant.MetadataAppSecretKey.String(), "cs_7",
	)

	sent, _ := metadata.FromOutgoingContext(ctx)
	fmt.Println(len(sent))
	// Output: 2
}
