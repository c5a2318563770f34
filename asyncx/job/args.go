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
	if len(data) > MaxArgs {
		return nil, fmt.Errorf("job: kind %s: %w: %d bytes are more than %d", k.name, ErrArgs, len(data), MaxArgs)
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
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return fmt.Errorf("a JSON %s at %q is no %s", jsonKind(wrong.Value), wrong.Field, wrong.Type)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("malformed JSON at byte %d", syntax.Offset)
	}
	return errors.New("they do not decode")
}

// encoding returns an error of encoding/json without the values that it may quote.
func encoding(err error) error {
	var value *json.UnsupportedValueError
	var typ *json.UnsupportedTypeError
	var marshaler *json.MarshalerError
	switch {
	case errors.As(err, &value):
		return fmt.Errorf("a value of %s has no JSON", value.Value.Type())
	case errors.As(err, &typ):
		return fmt.Errorf("%s has no JSON", typ.Type)
	case errors.As(err, &marshaler):
		return fmt.Errorf("%s does not encode", strings.TrimPrefix(marshaler.Type.String(), "*")) // a pointer since Go 1.27
	}
	return errors.New("they do not encode")
}

// jsonKind returns the first word: of a number that does not fit encoding/json gives the number too.
func jsonKind(value string) string {
	for i, c := range value {
		if c == ' ' {
			return value[:i]
		}
	}
	return value
}
