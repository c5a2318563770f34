// Package generate holds the code that is made of proto/base.proto.
//
// A service's own messages embed the envelope by import:
//
//	import "grpcx/proto/base.proto";
//
//	message GetUserResponse {
//	  xBase.BaseResponse base_response = 1;
//	  User user = 2;
//	}
package generate
