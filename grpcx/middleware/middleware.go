// Package middleware keeps the middlewares of single services.
//
// A middleware is an ordinary gRPC server interceptor that runs for one service only,
// within the interceptors that the server runs for all:
//
//	middleware.UseUnary(pb.UserService_ServiceDesc, authenticate, limit)
//
// They run like the layers of an onion: authenticate-in, limit-in, handler, limit-out,
// authenticate-out. A middleware may change context and request, may answer without
// calling the next one, and may call it more than once, also at the same time.
//
// Middlewares are registered before the server serves, usually within the function that
// registers the services. It may be done while serving too: calls that begin afterwards
// see the change, others do not. Everything here is safe for concurrent use.
package middleware

import (
	"fmt"
	"strings"

	"google.golang.org/grpc"
)

// Default is the Registry that the package's functions use, and that servers ask where
// they are given no other.
var Default = new(Registry)

// UseUnary appends middlewares to those of the service's unary methods in Default; see
// Registry.UseUnary.
func UseUnary[D grpc.ServiceDesc | *grpc.ServiceDesc](
	service D, chain ...grpc.UnaryServerInterceptor,
) {
	Default.UseUnary(description(service), chain...)
}

// UseStream appends middlewares to those of the service's streaming methods in Default;
// see Registry.UseStream.
func UseStream[D grpc.ServiceDesc | *grpc.ServiceDesc](
	service D, chain ...grpc.StreamServerInterceptor,
) {
	Default.UseStream(description(service), chain...)
}

// LookupUnary returns the middlewares of the service's unary methods in Default; see
// Registry.LookupUnary.
func LookupUnary(service string) []grpc.UnaryServerInterceptor {
	return Default.LookupUnary(service)
}

// LookupStream returns the middlewares of the service's streaming methods in Default; see
// Registry.LookupStream.
func LookupStream(service string) []grpc.StreamServerInterceptor {
	return Default.LookupStream(service)
}

// Registry keeps the middlewares of each service. The zero value is ready to use; a
// Registry must not be copied. Readers take no lock.
type Registry struct {
	unary  chains[grpc.UnaryServerInterceptor]
	stream chains[grpc.StreamServerInterceptor]
}

// UseUnary appends middlewares to those of the service's unary methods, the outermost
// first.
//
// It is called before the server serves, usually where the service is registered, and may
// be called while serving. It panics where service is nil, has no name or one with a
// slash, or where a middleware is nil.
func (r *Registry) UseUnary(service *grpc.ServiceDesc, chain ...grpc.UnaryServerInterceptor) {
	r.unary.use(nameOf("UseUnary", service, nils(chain)), chain, nestUnary)
}

// UseStream appends middlewares to those of the service's streaming methods, the
// outermost first. It is UseUnary in everything else.
func (r *Registry) UseStream(service *grpc.ServiceDesc, chain ...grpc.StreamServerInterceptor) {
	r.stream.use(nameOf("UseStream", service, nils(chain)), chain, nestStream)
}

// LookupUnary returns a copy of the middlewares of the service's unary methods, the
// outermost first; nil where there are none. The service is named in full, such as
// "shop.v1.Orders".
func (r *Registry) LookupUnary(service string) []grpc.UnaryServerInterceptor {
	return r.unary.parts(service)
}

// LookupStream returns a copy of the middlewares of the service's streaming methods, the
// outermost first; nil where there are none. The service is named in full, such as
// "shop.v1.Orders".
func (r *Registry) LookupStream(service string) []grpc.StreamServerInterceptor {
	return r.stream.parts(service)
}

// Unary returns all middlewares of the service's unary methods as one interceptor; nil
// where there are none. A single middleware is returned as it is; of several, each but
// the last costs an allocation of 32 bytes when it runs.
func (r *Registry) Unary(service string) grpc.UnaryServerInterceptor {
	return r.unary.whole(service)
}

// Stream returns all middlewares of the service's streaming methods as one interceptor,
// as Unary does.
func (r *Registry) Stream(service string) grpc.StreamServerInterceptor {
	return r.stream.whole(service)
}

// ExtractServiceName returns the service in the full name of a method: "shop.v1.Orders"
// in "/shop.v1.Orders/Place", also without the leading slash. It is "" where the name is
// none: service or method is missing, or there are more slashes.
func ExtractServiceName(fullMethod string) string {
	service, method, _ := strings.Cut(strings.TrimPrefix(fullMethod, "/"), "/")
	if method == "" || strings.Contains(method, "/") {
		return ""
	}
	return service
}

// description returns a description of a service as a pointer.
func description[D grpc.ServiceDesc | *grpc.ServiceDesc](service D) *grpc.ServiceDesc {
	switch d := any(service).(type) {
	case grpc.ServiceDesc:
		return &d
	case *grpc.ServiceDesc:
		return d
	default: // the constraint knows no other
		return nil
	}
}

// nameOf returns the name of a service. It panics, in the name of the caller, where a
// registration cannot be right.
func nameOf(caller string, service *grpc.ServiceDesc, faulty int) string {
	switch {
	case service == nil:
		panic(fmt.Sprintf("grpcx/middleware: %s: the service is nil: give the generated description, such as pb.UserService_ServiceDesc", caller))
	case service.ServiceName == "":
		panic(fmt.Sprintf("grpcx/middleware: %s: the service has no name: give the generated description, such as pb.UserService_ServiceDesc", caller))
	case ExtractServiceName("/"+service.ServiceName+"/Method") != service.ServiceName:
		panic(fmt.Sprintf("grpcx/middleware: %s: the name %q holds a slash, so no call would find its middleware: give the generated description", caller, service.ServiceName))
	case faulty > 0:
		panic(fmt.Sprintf("grpcx/middleware: %s: middleware %d of service %s is nil: give a function or leave it out", caller, faulty, service.ServiceName))
	default:
		return service.ServiceName
	}
}
