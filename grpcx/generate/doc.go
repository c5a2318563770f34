// Package generate contains the generated code of proto/base.proto.
//
// A service imports the envelope in its own messages:
//
//	import "grpcx/proto/base.proto";
//
//	message GetUserResponse {
//	  xBase.BaseResponse base_response = 1;
//	  User user = 2;
//	}
package generate
