package jsonenc

import "reflect"

// isEmpty reports whether omitempty omits v.
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

type zeroer interface{ IsZero() bool }

// isZero reports whether omitzero omits v. It calls IsZero if the type of the field, or a
// pointer to it, has this method.
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

// addressOf returns a pointer to v, or to a copy of v if v is not addressable.
func addressOf(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v.Addr()
	}
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}
