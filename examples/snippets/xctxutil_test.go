package snippets_test

import (
	"context"
	"fmt"

	xCtxUtil "github.com/plinthgo/plinth/core/common/xctxutil"
	xCtx "github.com/plinthgo/plinth/core/defined/xctx"
)

func Example_xCtxUtil() {
	greet := func(ctx context.Context) error {
		const key xCtx.ContextKey = "app_greeting"

		greeting, err := xCtxUtil.Get[string](ctx, key)
		if err != nil {
			return err
		}
		fmt.Println(greeting)
		return nil
	}
	fmt.Println(greet(context.WithValue(context.Background(), xCtx.ContextKey("app_greeting"), "hello")))
	// Output:
	// hello
	// <nil>
}
