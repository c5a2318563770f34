package runner

import (
	"errors"
	"fmt"
	"reflect"

	"google.golang.org/grpc"
)

// registrar registers services and collects errors, for which grpc-go would exit the
// process.
type registrar struct {
	*grpc.Server
	errs []error
}

// RegisterService implements grpc.ServiceRegistrar.
func (r *registrar) RegisterService(desc *grpc.ServiceDesc, impl any) {
	if err := r.validate(desc, impl); err != nil {
		r.errs = append(r.errs, err)
		return
	}
	r.Server.RegisterService(desc, impl)
}

// validate returns an error if the registration is invalid.
func (r *registrar) validate(desc *grpc.ServiceDesc, impl any) error {
	if desc == nil {
		return errors.New("service description is nil")
	}
	if _, registered := r.GetServiceInfo()[desc.ServiceName]; registered {
		return fmt.Errorf("service %s is registered twice", desc.ServiceName)
	}
	if impl == nil {
		return nil // grpc-go accepts a nil implementation
	}
	if desc.HandlerType == nil {
		return fmt.Errorf("service %s: the description has no handler type for %T",
			desc.ServiceName, impl)
	}
	if want := reflect.TypeOf(desc.HandlerType).Elem(); !reflect.TypeOf(impl).Implements(want) {
		return fmt.Errorf("service %s: %T does not implement %s", desc.ServiceName, impl, want)
	}
	return nil
}

// ifMissing registers services that the application has not registered itself.
type ifMissing struct{ *grpc.Server }

// RegisterService implements grpc.ServiceRegistrar.
func (m ifMissing) RegisterService(desc *grpc.ServiceDesc, impl any) {
	if _, registered := m.GetServiceInfo()[desc.ServiceName]; !registered {
		m.Server.RegisterService(desc, impl)
	}
}
