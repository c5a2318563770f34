package snippets_test

import (
	"context"
	"fmt"

	"github.com/plinthgo/plinth/core/common/xctxutil"
	"github.com/plinthgo/plinth/core/defined/xctx"
)

func Example_xCtxUtil() {
	greet := func(ctx context.Context) error {
		const key xctx.ContextKey = "app_greeting"

		greeting, err := xctxutil.Get[string](ctx, key)
		if err != nil {
			return err
		}
		fmt.Println(greeting)
		return nil
	}
	fmt.Println(greet(context.WithValue(context.Background(), xctx.ContextKey("app_greeting"),
		"hello")))
	// Output:
	// hello
	// <nil>
}
