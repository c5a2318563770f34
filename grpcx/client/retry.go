package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
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

func (r *retry) problems() []error {
	var list []error
	if r.attempts < 2 {
		list = append(list, fmt.Errorf("grpcx/client: WithRetry: %d attempts repeat nothing: give 2 at least, or WithoutRetry", r.attempts))
	}
	if r.initial <= 0 {
		list = append(list, fmt.Errorf("grpcx/client: WithRetry: the first wait of %v is not above 0", r.initial))
	}
	if r.longest < r.initial {
		list = append(list, fmt.Errorf("grpcx/client: WithRetry: the longest wait of %v is below the first, %v", r.longest, r.initial))
	}
	return list
}

// The service config of gRPC, as far as it is written here:
// https://github.com/grpc/grpc-proto/blob/master/grpc/service_config/service_config.proto
type (
	serviceConfig struct {
		LoadBalancing []map[string]struct{} `json:"loadBalancingConfig,omitempty"`
		Methods       []methodConfig        `json:"methodConfig,omitempty"`
		Throttling    *throttling           `json:"retryThrottling,omitempty"`
	}
	methodConfig struct {
		Names []methodName `json:"name"`
		Retry retryPolicy  `json:"retryPolicy"`
	}
	methodName struct {
		Service string `json:"service"`
		Method  string `json:"method,omitempty"`
	}
	retryPolicy struct {
		MaxAttempts       int      `json:"maxAttempts"`
		InitialBackoff    string   `json:"initialBackoff"`
		MaxBackoff        string   `json:"maxBackoff"`
		BackoffMultiplier float64  `json:"backoffMultiplier"`
		Codes             []string `json:"retryableStatusCodes"`
	}
	throttling struct {
		MaxTokens  float64 `json:"maxTokens"`
		TokenRatio float64 `json:"tokenRatio"`
	}
)

// throttle stops repeating on a connection when 50 attempts more have failed than a tenth of the calls has succeeded:
// a service that is down for long gets each call once.
var throttle = throttling{MaxTokens: 100, TokenRatio: 0.1}

// serviceConfig returns the service config as JSON, or "" where there is nothing to say.
//
// Only UNAVAILABLE is worth another attempt: the service is not there just now. Of the others, DEADLINE_EXCEEDED and
// CANCELLED leave no time, RESOURCE_EXHAUSTED asks for less load, ABORTED wants the caller to read again, and all else
// would fail the same way.
func (c *config) serviceConfig() (string, error) {
	var s serviceConfig
	if c.balancing != nil {
		s.LoadBalancing = []map[string]struct{}{{*c.balancing: {}}}
	}
	if names := c.repeatable(); len(names) > 0 {
		s.Throttling = &throttle
		s.Methods = []methodConfig{{Names: names, Retry: retryPolicy{
			MaxAttempts: c.retry.attempts, InitialBackoff: seconds(c.retry.initial), MaxBackoff: seconds(c.retry.longest),
			BackoffMultiplier: 2, Codes: []string{"UNAVAILABLE"},
		}}}
	}
	if s.LoadBalancing == nil && s.Methods == nil {
		return "", nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "", fmt.Errorf("grpcx/client: service config: %w", err)
	}
	return string(text), nil
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

// declared returns the methods of all linked protocol buffers that say themselves that they may be repeated.
func declared() []methodName {
	var names []methodName
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		services := file.Services()
		for i := range services.Len() {
			methods := services.Get(i).Methods()
			for j := range methods.Len() {
				if m := methods.Get(j); idempotent(m) {
					names = append(names, methodName{Service: string(services.Get(i).FullName()), Method: string(m.Name())})
				}
			}
		}
		return true
	})
	return names
}

func idempotent(m protoreflect.MethodDescriptor) bool {
	options, _ := m.Options().(*descriptorpb.MethodOptions)
	switch options.GetIdempotencyLevel() {
	case descriptorpb.MethodOptions_NO_SIDE_EFFECTS, descriptorpb.MethodOptions_IDEMPOTENT:
		return true
	default:
		return false
	}
}

// parseName reads "/pkg.Service/Method" or "pkg.Service". See known for names that are mistakes.
func parseName(text string) (methodName, error) {
	service, method := text, ""
	whole := true
	if rest, ok := strings.CutPrefix(text, "/"); ok {
		service, method, _ = strings.Cut(rest, "/")
		whole = false
	}
	if !protoreflect.FullName(service).IsValid() || !whole && !protoreflect.Name(method).IsValid() {
		return methodName{}, fmt.Errorf(`grpcx/client: WithIdempotent: %q names nothing: write "/pkg.Service/Method", or "pkg.Service" for all of it`, text)
	}
	if err := known(protoregistry.GlobalFiles, service, method); err != nil {
		return methodName{}, fmt.Errorf("grpcx/client: WithIdempotent: %q: %w", text, err)
	}
	return methodName{Service: service, Method: method}, nil
}

// known returns what is wrong with the name of a service, or of a method if it is not empty. Generated
// code registers its services, so a name that is not registered is a mistake. A program without
// generated services, such as a proxy, may name any.
func known(files *protoregistry.Files, service, method string) error {
	found, err := files.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		if services := services(files); len(services) > 0 {
			return fmt.Errorf("no generated code has this service: it has %s", strings.Join(services, ", "))
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

// services returns the names of all services but those of gRPC itself, in order.
func services(files *protoregistry.Files) []string {
	var names []string
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			if name := string(file.Services().Get(i).FullName()); !strings.HasPrefix(name, "grpc.") {
				names = append(names, name)
			}
		}
		return true
	})
	slices.Sort(names)
	return names
}

// seconds writes a duration as JSON has it in protocol buffers.
func seconds(d time.Duration) string {
	return fmt.Sprintf("%d.%09ds", d/time.Second, d%time.Second)
}
