// Package javacode defines the seven codes of the Java library that have no equivalent in
// the catalogue. Clients of a Java profile receive the number and label of the Java
// library; other clients receive those of this package.
//
// Importing the package registers the codes 40092 to 40097 and 50097, which are in the
// range of applications.
package javacode

import "github.com/plinthgo/plinth/core/common/xerror"

// The codes. Their labels in the Java library are the Go names.
var (
	// BodyInvalid is 40009 in the Java library.
	BodyInvalid = xerror.MustErrorCode(40092, "BODY_INVALID",
		"The content of the request body is not valid", "请求体内容无效")
	// HeaderInvalid is 40014 in the Java library.
	HeaderInvalid = xerror.MustErrorCode(40093, "HEADER_INVALID",
		"The value of a request header is not valid", "请求头的值无效")
	// HeaderIllegal is 40015 in the Java library.
	HeaderIllegal = xerror.MustErrorCode(40094, "HEADER_ILLEGAL", "A request header is not allowed",
		"不允许的请求头")
	// OperationIllegal is 40020 in the Java library.
	OperationIllegal = xerror.MustErrorCode(40095, "OPERATION_ILLEGAL",
		"The operation is against the rules", "操作不合法")
	// OperationTypeError is 40025 in the Java library.
	OperationTypeError = xerror.MustErrorCode(40096, "OPERATION_TYPE_ERROR",
		"The type of the operation is wrong", "操作类型错误")
	// RequestError is 40027 in the Java library.
	RequestError = xerror.MustErrorCode(40097, "REQUEST_ERROR", "The request is wrong", "请求错误")
	// NetworkNotSuccess is 50010 in the Java library.
	NetworkNotSuccess = xerror.MustErrorCode(50097, "NETWORK_NOT_SUCCESS",
		"Another service did not report success", "其他服务未返回成功")
)
