package xbase_test

import (
	"fmt"

	"github.com/plinthgo/plinth/core/common/xbase"
)

func ExampleBaseResponse_AppendJSON() {
	r := xbase.BaseResponse{
		Context: "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
		Output:  xbase.OutputSuccess,
		Code:    xbase.CodeSuccess,
		Message: "pong",
	}
	plinth, _ := r.AppendJSON(nil, xbase.ProfilePlinth)
	java, _ := r.AppendJSON(nil, xbase.ProfileJava)
	fmt.Println(string(plinth))
	fmt.Println(string(java))
	// Output:
	// {"context":"6f9619ff-8b86-4d01-b42d-00c04fc964ff","output":"Success","code":200,"message":"pong"}
	// {"context":"6f9619ff-8b86-4d01-b42d-00c04fc964ff","output":"Success","code":200,"message":"pong","errorMessage":null,"duration":0,"data":null}
}
