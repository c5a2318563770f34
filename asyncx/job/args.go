package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// encode returns args as JSON. It returns ErrArgs if args cannot be encoded or are too
// large.
func (k *Kind[T]) encode(args T) ([]byte, error) {
	data, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("job: kind %s: %w: %w", k.name, ErrArgs, encoding(err))
	}
	if len(data) > maxArgs {
		return nil, fmt.Errorf("job: kind %s: %w: %d bytes exceed the limit of %d",
			k.name, ErrArgs, len(data), maxArgs)
	}
	return data, nil
}

// decode returns the arguments of a stored job.
func (k *Kind[T]) decode(data []byte) (args T, err error) {
	if err := json.Unmarshal(data, &args); err != nil {
		return args, fmt.Errorf("job: kind %s: %w: %w", k.name, ErrArgs, decoding(err))
	}
	return args, nil
}

// decoding returns err without the values that encoding/json quotes in it.
func decoding(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// for an overflow, Value contains the number too: "number 300"
		kind, _, _ := strings.Cut(wrong.Value, " ")
		return fmt.Errorf("JSON %s at %q does not match type %s", kind, wrong.Field, wrong.Type)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("malformed JSON at byte %d", syntax.Offset)
	}
	return errors.New("cannot decode")
}

// encoding returns err without the values that encoding/json quotes in it.
func encoding(err error) error {
	if value, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		return fmt.Errorf("a value of type %s cannot be encoded as JSON", value.Value.Type())
	}
	if typ, ok := errors.AsType[*json.UnsupportedTypeError](err); ok {
		return fmt.Errorf("type %s cannot be encoded as JSON", typ.Type)
	}
	if marshaler, ok := errors.AsType[*json.MarshalerError](err); ok {
		// a pointer since Go 1.27
		return fmt.Errorf("the marshaler of %s failed",
			strings.TrimPrefix(marshaler.Type.String(), "*"))
	}
	return errors.New("cannot encode")
}
