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

// grpcAttempts is the number of attempts that grpc allows where nothing else is said.
const grpcAttempts = 5

// retry says how often, and after which time, a call is repeated.
type retry struct {
	attempts         int
	initial, longest time.Duration
}

func (r *retry) check(p *problems) {
	p.add(r.attempts < 2, "WithRetry: %d attempts repeat nothing: give 2 at least, or WithoutRetry",
		r.attempts)
	p.add(r.initial <= 0, "WithRetry: the first wait of %v is not above 0", r.initial)
	p.add(r.longest < r.initial, "WithRetry: the longest wait of %v is below the first, %v",
		r.longest, r.initial)
}

// methodName is a method in the service config, or all of a service.
type methodName struct {
	Service string `json:"service"`
	Method  string `json:"method,omitempty"`
}

// serviceConfig returns the service config of gRPC as JSON, or "" where there is nothing
// to say:
// https://github.com/grpc/grpc-proto/blob/master/grpc/service_config/service_config.proto
//
// Only UNAVAILABLE is worth another attempt: the service is not there just now. Of the
// others, DEADLINE_EXCEEDED and CANCELLED leave no time, RESOURCE_EXHAUSTED asks for less
// load, ABORTED wants the caller to read again, and all else would fail the same way.
//
// The throttling stops repeating on a connection when 50 attempts more have failed than a
// tenth of the calls has succeeded: a service that is down for long gets each call once.
func (c *config) serviceConfig() string {
	type object map[string]any
	s := object{}
	if c.balancing != nil {
		s["loadBalancingConfig"] = []object{{*c.balancing: object{}}}
	}
	if names := c.repeatable(); len(names) > 0 {
		s["retryThrottling"] = object{"maxTokens": 100, "tokenRatio": 0.1}
		s["methodConfig"] = []object{{"name": names, "retryPolicy": object{
			"maxAttempts": c.retry.attempts, "initialBackoff": seconds(c.retry.initial),
			"maxBackoff":        seconds(c.retry.longest),
			"backoffMultiplier": 2, "retryableStatusCodes": []string{"UNAVAILABLE"},
		}}}
	}
	if len(s) == 0 {
		return ""
	}
	text, _ := json.Marshal(s) // strings and numbers only
	return string(text)
}

// repeatable returns the methods and services that may be repeated, each once, in order.
func (c *config) repeatable() []methodName {
	if c.retry == nil {
		return nil
	}
	names := declared()
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

// declared returns the methods of all linked protocol buffers that say themselves that
// they may be repeated.
func declared() []methodName {
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

// idempotent reports whether a method says itself that it may be repeated.
func idempotent(m protoreflect.MethodDescriptor) bool {
	options, _ := m.Options().(*descriptorpb.MethodOptions)
	return options.GetIdempotencyLevel() != descriptorpb.MethodOptions_IDEMPOTENCY_UNKNOWN
}

// parseName reads "/pkg.Service/Method" or "pkg.Service". See known for names that are
// mistakes.
func parseName(text string) (methodName, error) {
	path, isMethod := strings.CutPrefix(text, "/")
	service, method, found := strings.Cut(path, "/")
	if isMethod != found || !protoreflect.FullName(service).IsValid() || isMethod &&
		!protoreflect.Name(method).IsValid() {
		return methodName{}, fmt.Errorf(
			`grpcx/client: WithIdempotent: %q names nothing: write "/pkg.Service/Method", or "pkg.Service" for all of it`, text)
	}
	if err := known(protoregistry.GlobalFiles, service, method); err != nil {
		return methodName{}, fmt.Errorf("grpcx/client: WithIdempotent: %q: %w", text, err)
	}
	return methodName{Service: service, Method: method}, nil
}

// known returns what is wrong with the name of a service, or of a method if it is not
// empty. Generated code registers its services, so a name that is not registered is a
// mistake. A program without generated services, such as a proxy, may name any.
func known(files *protoregistry.Files, service, method string) error {
	found, err := files.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		if names := serviceNames(files); len(names) > 0 {
			return fmt.Errorf("no generated code has this service: it has %s",
				strings.Join(names, ", "))
		}
		return nil
	}
	s, ok := found.(protoreflect.ServiceDescriptor)
	switch {
	case !ok:
		return errors.New("this is no service")
	case method != "" && s.Methods().ByName(protoreflect.Name(method)) == nil:
		return errors.New("the service has no such method")
	default:
		return nil
	}
}

// services returns all services.
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

// serviceNames returns the names of all services but those of gRPC itself, in order.
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

// seconds writes a duration as JSON has it in protocol buffers.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%d.%09ds", d/time.Second, d%time.Second)
}
