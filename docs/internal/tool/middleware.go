package tool

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// recovered converts a panic of a call into an error. The SDK runs calls on its own
// goroutines, so a panic would crash the program.
func recovered(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (result mcp.Result, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				slog.ErrorContext(ctx, "tool call panicked", "method", method, "panic",
					fault, "stack", string(debug.Stack()))
				result, err = nil,
					&jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "internal error"}
			}
		}()
		return next(ctx, method, r)
	}
}

// rejectUndeclared rejects methods that the SDK serves although the server does not
// declare them.
func rejectUndeclared(o *mcp.ServerOptions) mcp.Middleware {
	logging := o.Capabilities == nil || o.Capabilities.Logging != nil //nolint:staticcheck // deprecated, and asked for by the conformance suite
	undeclared := map[string]bool{
		"logging/setLevel":      !logging,
		"completion/complete":   o.CompletionHandler == nil,
		"resources/subscribe":   o.SubscribeHandler == nil,
		"resources/unsubscribe": o.UnsubscribeHandler == nil,
	}
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if undeclared[method] {
				return nil, &jsonrpc.Error{
					Code:    jsonrpc.CodeMethodNotFound,
					Message: "method not found: the server does not declare " + method,
				}
			}
			return next(ctx, method, r)
		}
	}
}

// suggest adds the known tools and prompts to errors about unknown ones.
func (d *docs) suggest(next mcp.MethodHandler) mcp.MethodHandler {
	var tools []string
	for _, t := range d.tools() {
		tools = append(tools, t.name)
	}
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, r)
		var wire *jsonrpc.Error
		if !errors.As(err, &wire) {
			return result, err
		}
		more := *wire
		more.Message = cut(more.Message)
		switch {
		case strings.HasPrefix(wire.Message, "unknown tool "):
			more.Message += "; the tools are " + strings.Join(tools, ", ")
		case strings.HasPrefix(wire.Message, "unknown prompt "):
			more.Message += "; the prompt is " + promptName
		}
		return nil, &more
	}
}
