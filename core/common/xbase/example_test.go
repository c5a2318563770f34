package xbase_test

import (
	"fmt"

	xBase "github.com/plinthgo/plinth/core/common/xbase"
)

func ExampleBaseResponse_AppendJSON() {
	r := xBase.BaseResponse{
		Context: "6f9619ff-8b86-4d01-b42d-00c04fc964ff",
		Output:  xBase.OutputSuccess,
		Code:    xBase.CodeSuccess,
		Message: "pong",
	}
	plinth, _ := r.AppendJSON(nil, xBase.ProfilePlinth)
	java, _ := r.AppendJSON(nil, xBase.ProfileJava)
	fmt.Println(string(plinth))
	fmt.Println(string(java))
	// Output:
	// {"context":"6f9619ff-8b86-4d01-b42d-00c04fc964ff","output":"Success","code":200,"message":"pong"}
	// {"context":"6f9619ff-8b86-4d01-b42d-00c04fc964ff","output":"Success","code":200,"message":"pong","errorMessage":null,"duration":0,"data":null}
}
