package snippets_test

import (
	"fmt"

	"github.com/plinthgo/plinth/core/common/xbase"
)

func Example_xBase() {
	r := xbase.BaseResponse{
		Context: "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
		Output:  xbase.OutputSuccess,
		Code:    xbase.CodeSuccess,
		Message: "pong",
	}
	body, err := r.AppendJSON(nil, xbase.ProfilePlinth)
	fmt.Println(string(body), err)
	// Output: {"context":"6f9619ff-8b86-4d01-b42d-00c04fc964ff","output":"Success","code":200,"message":"pong"} <nil>
}
