package runner

import (
	"errors"
	"fmt"
	"reflect"

	"google.golang.org/grpc"
)

// registrar is the server while services are registered. What grpc-go ends the process
// for is an error here.
type registrar struct {
	*grpc.Server
	errs []error
}

// RegisterService implements grpc.ServiceRegistrar.
func (r *registrar) RegisterService(desc *grpc.ServiceDesc, impl any) {
	if err := r.fault(desc, impl); err != nil {
		r.errs = append(r.errs, err)
		return
	}
	r.Server.RegisterService(desc, impl)
}

// fault returns what is wrong with a registration.
func (r *registrar) fault(desc *grpc.ServiceDesc, impl any) error {
	if desc == nil {
		return errors.New("a service has no description")
	}
	if _, known := r.GetServiceInfo()[desc.ServiceName]; known {
		return fmt.Errorf("the service %s is registered twice", desc.ServiceName)
	}
	if impl == nil {
		return nil // grpc-go asks no more
	}
	if desc.HandlerType == nil {
		return fmt.Errorf("the service %s: its description names no type for %T",
			desc.ServiceName, impl)
	}
	if wanted := reflect.TypeOf(desc.HandlerType).Elem(); !reflect.TypeOf(impl).Implements(wanted) {
		return fmt.Errorf("the service %s: %T does not implement %s",
			desc.ServiceName, impl, wanted)
	}
	return nil
}

// missing is the server for what the application may have registered itself, which then
// stays as it is.
type missing struct{ *grpc.Server }

// RegisterService implements grpc.ServiceRegistrar.
func (m missing) RegisterService(desc *grpc.ServiceDesc, impl any) {
	if _, known := m.GetServiceInfo()[desc.ServiceName]; !known {
		m.Server.RegisterService(desc, impl)
	}
}
