package job

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// encode returns the arguments as they are stored.
func (k *Kind[T]) encode(args T) ([]byte, error) {
	data, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("job: kind %s: %w: %w", k.name, ErrArgs, encoding(err))
	}
	if len(data) > maxArgs {
		return nil, fmt.Errorf("job: kind %s: %w: %d bytes are more than %d",
			k.name, ErrArgs, len(data), maxArgs)
	}
	return data, nil
}

// decode returns the arguments of a job.
func (k *Kind[T]) decode(data []byte) (args T, err error) {
	if err := json.Unmarshal(data, &args); err != nil {
		return args, fmt.Errorf("job: kind %s: %w: %w", k.name, ErrArgs, decoding(err))
	}
	return args, nil
}

// decoding returns an error of encoding/json without the values that it may quote.
func decoding(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		// of a number that does not fit encoding/json gives the number too
		kind, _, _ := strings.Cut(wrong.Value, " ")
		return fmt.Errorf("a JSON %s at %q is no %s", kind, wrong.Field, wrong.Type)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("malformed JSON at byte %d", syntax.Offset)
	}
	return errors.New("they do not decode")
}

// encoding returns an error of encoding/json without the values that it may quote.
func encoding(err error) error {
	if value, ok := errors.AsType[*json.UnsupportedValueError](err); ok {
		return fmt.Errorf("a value of %s has no JSON", value.Value.Type())
	}
	if typ, ok := errors.AsType[*json.UnsupportedTypeError](err); ok {
		return fmt.Errorf("%s has no JSON", typ.Type)
	}
	if marshaler, ok := errors.AsType[*json.MarshalerError](err); ok {
		// a pointer since Go 1.27
		return fmt.Errorf("%s does not encode", strings.TrimPrefix(marshaler.Type.String(), "*"))
	}
	return errors.New("they do not encode")
}
