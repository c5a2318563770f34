package xerror_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/plinthgo/plinth/core/common/xbase"
	"github.com/plinthgo/plinth/core/common/xerror"
)

// OrderShipped is a code of the application.
var OrderShipped = xerror.MustErrorCode(40971, "ORDER_SHIPPED",
	"The order has already been shipped", "订单已发货")

func ExampleMustErrorCode() {
	err := xerror.New(OrderShipped, "order 7 left on Monday")
	fmt.Println(err.GetErrorCode().Status(), err.GetErrorCode().GetCode(), err)
	// Output: 409 40971 ORDER_SHIPPED: order 7 left on Monday
}

func ExampleNewError() {
	find := func(ctx context.Context, id int) error {
		return xerror.NewError(ctx, xerror.UserNotFound, "",
			false, fmt.Errorf("user %d: %w", id, errSentinel))
	}
	err := find(context.Background(), 7)
	fmt.Println(err)
	fmt.Println(errors.Is(err, xerror.UserNotFound), errors.Is(err, errSentinel))
	// Output:
	// USER_NOT_FOUND: user 7: record not found
	// true true
}

func ExampleFrom() {
	_, err := os.Open("no such file")
	e := xerror.From(err)
	fmt.Println(e.GetErrorCode())

	status, response := e.Response(context.Background(), xbase.ProfilePlinth)
	body, _ := response.AppendJSON(nil, xbase.ProfilePlinth)
	fmt.Println(status, string(body))
	// Output:
	// NOT_EXIST
	// 400 {"context":"","output":"NOT_EXIST","code":40000,"message":"The requested item does not exist"}
}

var errNoStock = errors.New("warehouse: out of stock")

func ExampleRegisterApplicationMapper() {
	remove := xerror.RegisterApplicationMapper(
		xerror.MapIs(errNoStock, xerror.StockInsuff),
		xerror.MapAs[*fs.PathError](xerror.StorageError),
	)
	defer remove()

	fmt.Println(xerror.From(fmt.Errorf("order 7: %w", errNoStock)).GetErrorCode())
	// Output: STOCK_INSUFFICIENT
}

func ExampleError_Problem() {
	err := xerror.New(xerror.NotExist, "there is no user 7")
	body, _ := json.Marshal(err.Problem(context.Background()))
	fmt.Println(string(body))
	// Output:
	// {"type":"about:blank","title":"Bad Request","status":400,"detail":"there is no user 7","code":40000,"output":"NOT_EXIST","context":""}
}
