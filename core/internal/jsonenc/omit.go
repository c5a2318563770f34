package jsonenc

import "reflect"

// isEmpty reports whether omitempty leaves v out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String, reflect.Slice, reflect.Map, reflect.Array:
		return v.Len() == 0
	case reflect.Struct, reflect.Chan, reflect.Func, reflect.UnsafePointer, reflect.Complex64,
		reflect.Complex128:
		return false
	default:
		return v.IsZero()
	}
}

// zeroer decides itself whether omitzero leaves it out.
type zeroer interface{ IsZero() bool }

// isZero reports whether omitzero leaves v out. A method counts if it is one of the
// field's type, or of a pointer to it.
func isZero(v reflect.Value) bool {
	if v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface {
		if z, ok := reflect.TypeAssert[zeroer](addressOf(v)); ok {
			return z.IsZero()
		}
		return v.IsZero()
	}
	if v.IsNil() || !v.Type().Implements(reflect.TypeFor[zeroer]()) {
		return v.IsNil()
	}
	if value := v.Elem(); value.Kind() == reflect.Pointer && value.IsNil() {
		return true
	}
	z, _ := reflect.TypeAssert[zeroer](v)
	return z.IsZero()
}

// addressOf returns a pointer to v, or to a copy of a v that has no address.
func addressOf(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v.Addr()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}
