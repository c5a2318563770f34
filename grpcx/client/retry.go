package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// grpcAttempts is the default limit of attempts in grpc-go.
const grpcAttempts = 5

// retryPolicy is the configuration of WithRetry.
type retryPolicy struct {
	attempts                   int
	initialBackoff, maxBackoff time.Duration
}

func (r *retryPolicy) check(p *problems) {
	p.add(r.attempts < 2, "WithRetry: %d attempts are too few: use at least 2, or WithoutRetry",
		r.attempts)
	p.add(r.initialBackoff <= 0, "WithRetry: the initial backoff %v is not positive",
		r.initialBackoff)
	p.add(r.maxBackoff < r.initialBackoff,
		"WithRetry: the maximum backoff %v is below the initial backoff %v",
		r.maxBackoff, r.initialBackoff)
}

// methodName is a method, or all methods of a service, in a service config.
type methodName struct {
	Service string `json:"service"`
	Method  string `json:"method,omitempty"`
}

// serviceConfig returns the gRPC service config as JSON, or "" if it is empty:
// https://github.com/grpc/grpc-proto/blob/master/grpc/service_config/service_config.proto
//
// Only UNAVAILABLE is retried. After DEADLINE_EXCEEDED and CANCELLED no time is left,
// RESOURCE_EXHAUSTED requires less load, ABORTED requires the caller to restart its own
// operation, and calls with other codes would fail again.
//
// Retry throttling starts with 100 tokens. A failed attempt removes one token, a
// successful call adds 0.1. No call is retried while 50 tokens or fewer remain, so a
// service that is down receives each call once.
func (c *config) serviceConfig() string {
	type object map[string]any
	s := object{}
	if c.balancing != nil {
		s["loadBalancingConfig"] = []object{{*c.balancing: object{}}}
	}
	if names := c.retryableMethods(); len(names) > 0 {
		s["retryThrottling"] = object{"maxTokens": 100, "tokenRatio": 0.1}
		s["methodConfig"] = []object{{"name": names, "retryPolicy": object{
			"maxAttempts": c.retry.attempts, "initialBackoff": seconds(c.retry.initialBackoff),
			"maxBackoff":        seconds(c.retry.maxBackoff),
			"backoffMultiplier": 2, "retryableStatusCodes": []string{"UNAVAILABLE"},
		}}}
	}
	if len(s) == 0 {
		return ""
	}
	text, _ := json.Marshal(s) // cannot fail for strings and numbers
	return string(text)
}

// retryableMethods returns the retryable methods and services, sorted and without
// duplicates.
func (c *config) retryableMethods() []methodName {
	if c.retry == nil {
		return nil
	}
	names := idempotentMethods()
	for _, text := range c.idempotent {
		if name, err := parseName(text); err == nil {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b methodName) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Method, b.Method))
	})
	return slices.Compact(names)
}

// idempotentMethods returns the methods of all linked protocol buffers that declare an
// idempotency level.
func idempotentMethods() []methodName {
	var names []methodName
	for service := range services(protoregistry.GlobalFiles) {
		for j := range service.Methods().Len() {
			if m := service.Methods().Get(j); idempotent(m) {
				names = append(names,
					methodName{Service: string(service.FullName()), Method: string(m.Name())})
			}
		}
	}
	return names
}

// idempotent reports whether a method declares an idempotency level.
func idempotent(m protoreflect.MethodDescriptor) bool {
	options, _ := m.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
}

// parseName parses "/pkg.Service/Method" or "pkg.Service" and checks that it exists.
func parseName(text string) (methodName, error) {
	path, isMethod := strings.CutPrefix(text, "/")
	service, method, found := strings.Cut(path, "/")
	if isMethod != found || !protoreflect.FullName(service).IsValid() ||
		isMethod && !protoreflect.Name(method).IsValid() {
		return methodName{}, fmt.Errorf(
			"grpcx/client: WithIdempotent: %q is not a method or service: "+
				`use "/pkg.Service/Method", or "pkg.Service" for all methods`, text)
	}
	if err := checkName(protoregistry.GlobalFiles, service, method); err != nil {
		return methodName{}, fmt.Errorf("grpcx/client: WithIdempotent: %q: %w", text, err)
	}
	return methodName{Service: service, Method: method}, nil
}

// checkName returns an error if files do not contain the service, or the method if method
// is not "". If the program links no generated services, as a proxy may, any name is
// valid.
func checkName(files *protoregistry.Files, service, method string) error {
	found, err := files.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		if names := serviceNames(files); len(names) > 0 {
			return fmt.Errorf("the service is not in the generated code, which contains %s",
				strings.Join(names, ", "))
		}
		return nil
	}
	s, ok := found.(protoreflect.ServiceDescriptor)
	switch {
	case !ok:
		return errors.New("not a service")
	case method != "" && s.Methods().ByName(protoreflect.Name(method)) == nil:
		return errors.New("the service has no such method")
	default:
		return nil
	}
}

// services iterates over all services.
func services(files *protoregistry.Files) iter.Seq[protoreflect.ServiceDescriptor] {
	return func(yield func(protoreflect.ServiceDescriptor) bool) {
		files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
			for i := range file.Services().Len() {
				if !yield(file.Services().Get(i)) {
					return false
				}
			}
			return true
		})
	}
}

// serviceNames returns the sorted names of all services except those of gRPC.
func serviceNames(files *protoregistry.Files) []string {
	var names []string
	for service := range services(files) {
		if name := string(service.FullName()); !strings.HasPrefix(name, "grpc.") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// seconds formats a duration in the JSON form of protocol buffers.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%d.%09ds", d/time.Second, d%time.Second)
}
