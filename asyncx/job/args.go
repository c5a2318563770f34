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
		return nil, fmt.Errorf("job: kind %s: %w: %w", k.name, ErrArgs, encodeError(err))
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
		return args, fmt.Errorf("job: kind %s: %w: %w", k.name, ErrArgs, decodeError(err))
	}
	return args, nil
}

// decodeError returns err without the values that encoding/json quotes in it.
func decodeError(err error) error {
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// After an overflow, Value also contains the number: "number 300".
		kind, _, _ := strings.Cut(typeErr.Value, " ")
		return fmt.Errorf("JSON %s at %q does not match type %s", kind, typeErr.Field, typeErr.Type)
	}
	if syntaxErr, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("malformed JSON at byte %d", syntaxErr.Offset)
	}
	return errors.New("cannot decode")
}

// encodeError returns err without the values that encoding/json quotes in it.
func encodeError(err error) error {
	if valueErr, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		return fmt.Errorf("a value of type %s cannot be encoded as JSON", valueErr.Value.Type())
	}
	if typ, ok := errors.AsType[*json.UnsupportedTypeError](err); ok {
		return fmt.Errorf("type %s cannot be encoded as JSON", typ.Type)
	}
	if marshalErr, ok := errors.AsType[*json.MarshalerError](err); ok {
		// Since Go 1.27, Type is a pointer.
		return fmt.Errorf("the marshaler of %s failed",
			strings.TrimPrefix(marshalErr.Type.String(), "*"))
	}
	return errors.New("cannot encode")
}
