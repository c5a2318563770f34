// Package middleware registers middleware for single services.
//
// Middleware is an ordinary gRPC server interceptor that runs for one service only,
// inside the server's interceptors:
//
//	middleware.UseUnary(pb.UserService_ServiceDesc, authenticate, limit)
//
// Middleware runs in the order of registration, outermost first: authenticate enters,
// limit enters, the handler runs, limit returns, authenticate returns. It may change the
// context and the request, return without calling the next handler, or call the next
// handler repeatedly, even concurrently.
//
// Register middleware before the server serves, usually next to the service. Middleware
// that is registered later applies to calls that start afterwards. All functions are safe
// for concurrent use.
package middleware

import (
	"fmt"
	"strings"

	"google.golang.org/grpc"
)

// Default is the Registry of the package's functions. Servers use it by default.
var Default = new(Registry)

// UseUnary appends middleware for the service's unary methods to Default. See
// Registry.UseUnary.
func UseUnary[D grpc.ServiceDesc | *grpc.ServiceDesc](
	service D, chain ...grpc.UnaryServerInterceptor,
) {
	Default.UseUnary(description(service), chain...)
}

// UseStream appends middleware for the service's streaming methods to Default. See
// Registry.UseStream.
func UseStream[D grpc.ServiceDesc | *grpc.ServiceDesc](
	service D, chain ...grpc.StreamServerInterceptor,
) {
	Default.UseStream(description(service), chain...)
}

// LookupUnary returns the middleware of the service's unary methods in Default. See
// Registry.LookupUnary.
func LookupUnary(service string) []grpc.UnaryServerInterceptor {
	return Default.LookupUnary(service)
}

// LookupStream returns the middleware of the service's streaming methods in Default. See
// Registry.LookupStream.
func LookupStream(service string) []grpc.StreamServerInterceptor {
	return Default.LookupStream(service)
}

// Registry stores the middleware of each service. The zero value is ready to use. A
// Registry must not be copied. It is safe for concurrent use; readers do not lock.
type Registry struct {
	unary  chains[grpc.UnaryServerInterceptor]
	stream chains[grpc.StreamServerInterceptor]
}

// UseUnary appends middleware for the service's unary methods, outermost first.
//
// It panics if service is nil, if its name is empty or contains a slash, or if a
// middleware is nil.
func (r *Registry) UseUnary(service *grpc.ServiceDesc, chain ...grpc.UnaryServerInterceptor) {
	r.unary.use(nameOf("UseUnary", service, firstNil(chain)), chain, nestUnary)
}

// UseStream appends middleware for the service's streaming methods, outermost first. It
// panics like UseUnary.
func (r *Registry) UseStream(service *grpc.ServiceDesc, chain ...grpc.StreamServerInterceptor) {
	r.stream.use(nameOf("UseStream", service, firstNil(chain)), chain, nestStream)
}

// LookupUnary returns a copy of the middleware of the service's unary methods, outermost
// first, or nil. The service is a full name, such as "shop.v1.Orders".
func (r *Registry) LookupUnary(service string) []grpc.UnaryServerInterceptor {
	return r.unary.list(service)
}

// LookupStream returns a copy of the middleware of the service's streaming methods,
// outermost first, or nil. The service is a full name, such as "shop.v1.Orders".
func (r *Registry) LookupStream(service string) []grpc.StreamServerInterceptor {
	return r.stream.list(service)
}

// Unary returns the middleware of the service's unary methods as one interceptor, or nil.
// A single middleware is returned unchanged. A call of a chain allocates 32 bytes for
// each middleware except the last.
func (r *Registry) Unary(service string) grpc.UnaryServerInterceptor {
	return r.unary.composed(service)
}

// Stream returns the middleware of the service's streaming methods as one interceptor, or
// nil.
func (r *Registry) Stream(service string) grpc.StreamServerInterceptor {
	return r.stream.composed(service)
}

// ExtractServiceName returns the service of a full method name: "shop.v1.Orders" for
// "/shop.v1.Orders/Place". The leading slash is optional. The result is "" if the service
// or the method is missing, or if the name contains further slashes.
func ExtractServiceName(fullMethod string) string {
	service, method, _ := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
	if method == "" || strings.Contains(method, "/") {
		return ""
	}
	return service
}

// description returns the service description as a pointer.
func description[D grpc.ServiceDesc | *grpc.ServiceDesc](service D) *grpc.ServiceDesc {
	switch d := any(service).(type) {
	case grpc.ServiceDesc:
		return &d
	case *grpc.ServiceDesc:
		return d
	default: // unreachable by the constraint
		return nil
	}
}

// nameOf returns the name of a service. It panics if the registration is invalid. caller
// is the name of the registering function, nilPosition the result of firstNil.
func nameOf(caller string, service *grpc.ServiceDesc, nilPosition int) string {
	switch {
	case service == nil:
		panic(fmt.Sprintf("grpcx/middleware: %s: the service is nil: "+
			"pass the generated description, such as pb.UserService_ServiceDesc", caller))
	case service.ServiceName == "":
		panic(fmt.Sprintf("grpcx/middleware: %s: the service has no name: "+
			"pass the generated description, such as pb.UserService_ServiceDesc", caller))
	case ExtractServiceName("/"+service.ServiceName+"/Method") != service.ServiceName:
		panic(fmt.Sprintf("grpcx/middleware: %s: the service name %q contains a slash: "+
			"pass the generated description", caller, service.ServiceName))
	case nilPosition > 0:
		panic(fmt.Sprintf("grpcx/middleware: %s: middleware %d of service %s is nil: "+
			"pass a function or remove it", caller, nilPosition, service.ServiceName))
	default:
		return service.ServiceName
	}
}
