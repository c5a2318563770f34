package validation_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xvalid"
	"github.com/plinthgo/plinth/grpcx/validation"
)

// userError and userErrors have the methods of what protoc-gen-validate v1.3.3 generates.
// Its Error() repeats that of the cause, which may be a parser's.
type userError struct {
	field, reason string
	cause         error
	key           bool
}

func (e userError) Field() string  { return e.field }
func (e userError) Reason() string { return e.reason }
func (e userError) Cause() error   { return e.cause }
func (e userError) Key() bool      { return e.key }
func (e userError) Error() string {
	return fmt.Sprintf("invalid User.%s: %s | caused by: %v", e.field, e.reason, e.cause)
}

type userErrors []error

func (m userErrors) AllErrors() []error { return m }
func (m userErrors) Error() string      { return errors.Join(m...).Error() }

// plainError has no more than the two methods.
type plainError struct{ field, reason string }

func (e plainError) Field() string  { return e.field }
func (e plainError) Reason() string { return e.reason }
func (e plainError) Error() string  { return e.field + e.reason }

const inside = "embedded message failed validation"

func TestErrorsThatListFieldsBecomeTheList(t *testing.T) {
	short := userError{field: "City", reason: "too short"}
	tests := []struct {
		name string
		err  error
		want [][2]string // path and message
	}{
		{"one", short, [][2]string{{"City", "too short"}}},
		{"a pointer", &short, [][2]string{{"City", "too short"}}},
		{"two methods only", plainError{"a", "b"}, [][2]string{{"a", "b"}}},
		{
			"all",
			userErrors{short, userError{field: "Name", reason: "too long"}},
			[][2]string{{"City", "too short"}, {"Name", "too long"}},
		},
		{
			"nested",
			userError{field: "Address", reason: inside, cause: short},
			[][2]string{{"Address.City", "too short"}},
		},
		{
			"nested lists",
			userErrors{userError{
				field:  "Homes[1]",
				reason: inside, cause: userErrors{short, plainError{"Zip", "missing"}},
			}},
			[][2]string{{"Homes[1].City", "too short"}, {"Homes[1].Zip", "missing"}},
		},
		{
			"deeper",
			userError{field: "A", cause: userErrors{userError{field: "B", cause: short}}},
			[][2]string{{"A.B.City", "too short"}},
		},
		{
			"a typed nil cause",
			userError{field: "A", reason: "r", cause: userErrors(nil)},
			[][2]string{{"A", "r"}},
		},
		{
			"nil entries",
			userErrors{nil, short, (*userError)(nil)},
			[][2]string{{"City", "too short"}},
		},
		{"wrapped", fmt.Errorf("user: %w", short), [][2]string{{"City", "too short"}}},
		{
			"joined", errors.Join(short, plainError{"a", "b"}),
			[][2]string{{"City", "too short"}, {"a", "b"}},
		},
		{
			"with others",
			userErrors{short, errors.New("too late")},
			[][2]string{{"City", "too short"}, {"", "too late"}},
		},
		{
			"with wrapped others", errors.Join(short, fmt.Errorf("too %w", errors.New("late"))),
			[][2]string{{"City", "too short"}, {"", "too late"}},
		},
		{"without a reason", plainError{"a", ""}, [][2]string{{"a", "the value is not valid"}}},
		{"a list of nothing", userErrors{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := refused(t, &answer{err: tt.err}, xerror.ParameterError)
			var got [][2]string
			if e.GetData() != nil {
				for _, f := range list(t, e) {
					got = append(got, [2]string{f.Field, f.Message})
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheCauseOfAFieldIsNotTold(t *testing.T) {
	parse := errors.New(`parse "hunter2": no host`)
	for _, err := range []error{
		userError{field: "Url", reason: "value must be a valid URI", cause: parse},
		userErrors{userError{
			field: "Url", reason: "value must be a valid URI",
			cause: fmt.Errorf("uri: %w", parse),
		}},
	} {
		e := refused(t, &answer{err: err}, xerror.ParameterError)
		want := []xvalid.FieldError{{
			Field: "Url",
			Tag:   validation.TagInvalid, Message: "value must be a valid URI",
		}}
		if diff := cmp.Diff(want, list(t, e)); diff != "" {
			t.Errorf("data (-want +got):\n%s", diff)
		}
		if strings.Contains(e.Error(), "hunter2") {
			t.Errorf("the error's own text has the value: %s", e.Error())
		}
	}
}

func TestAKnownErrorInAListKeepsItsTextInside(t *testing.T) {
	_, parse := strconv.Atoi("hunter2")
	known := fmt.Errorf("age: %w", parse)
	e := refused(t, &answer{err: userErrors{plainError{"a", "b"}, known}}, xerror.ParameterError)
	if got := list(t, e)[1].Message; strings.Contains(got, "hunter2") || got == "" {
		t.Errorf("got the message %q", got)
	}
}

func TestKeysOfMapsAreMasked(t *testing.T) {
	long := strings.Repeat("k", 33)
	tests := []struct{ name, field, want string }{
		{"an index", "Homes[12]", "Homes[12]"},
		{"a key, which may be what failed", "Labels[a_B-9]", "Labels[*]"},
		{"digits that are no index", "Labels[4915112345678]", "Labels[*]"},
		{"a key of a message", "Labels[a_B-9].x", "Labels[*]"},
		{"a text", "Labels[a b]", "Labels[*]"},
		{"no text", "Labels[]", "Labels[*]"},
		{"a long text", "Labels[" + long + "]", "Labels[*]"},
		{"brackets", "Labels[a]b]", "Labels[*]"},
		{"open brackets", "Labels[a[b]", "Labels[*]"},
		{"a sentence between brackets", "Labels[a].and so on[b]", "Labels[*]"},
		{"many keys", "Labels" + strings.Repeat("[a]", 100), "Labels[*]"},
		{"no end", "Labels[a", "Labels[*]"},
		{"a path", "items[2].price", "items[2].price"},
		{"a path with keys", "items[2].labels[a b].x", "items[*]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := refused(t, &answer{err: plainError{tt.field, "r"}}, xerror.ParameterError)
			if got := list(t, e)[0].Field; got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAKeyThatFailedItselfIsMasked(t *testing.T) {
	err := userError{field: "Labels[1234]", reason: "too short", key: true}
	e := refused(t, &answer{err: err}, xerror.ParameterError)
	if got := list(t, e)[0].Field; got != "Labels[*]" {
		t.Errorf("got %q, want Labels[*]", got)
	}
}

func TestAKeyOfAMessageThatFailedIsMasked(t *testing.T) {
	err := userError{
		field:  "Homes[old-1]",
		reason: inside, cause: userError{field: "City", reason: "too short"},
	}
	e := refused(t, &answer{err: err}, xerror.ParameterError)
	if got := list(t, e)[0].Field; got != "Homes[*].City" {
		t.Errorf("got %q, want Homes[*].City", got)
	}
}

func TestAListEndsAtTheLimit(t *testing.T) {
	nested := userErrors(slices.Repeat([]error{userError{field: "City", reason: "too short"}}, 80))
	err := userErrors{userError{field: "A", cause: nested}, userError{field: "B", cause: nested}}
	e := refused(t, &answer{err: err}, xerror.ParameterError)
	if got := len(list(t, e)); got != xvalid.MaxFailures {
		t.Errorf("got %d failures, want %d", got, xvalid.MaxFailures)
	}
}

func TestMessagesNestedWithoutEndHaveABoundedPath(t *testing.T) {
	var err error = userError{field: "Leaf", reason: "too short"}
	for range 10_000 {
		err = userErrors{userError{field: "Parent", reason: inside, cause: err}}
	}
	e := refused(t, &answer{err: err}, xerror.ParameterError)
	got := list(t, e)
	if len(got) != 1 || got[0].Message != inside || len(got[0].Field) > 300 {
		t.Errorf("got %d failures, the first %.400v", len(got), got)
	}
}

// selfish is an error that lists itself.
type selfish struct{}

func (s selfish) AllErrors() []error { return []error{s} }
func (selfish) Error() string        { return "again" }

func TestAnErrorThatListsItselfEnds(t *testing.T) {
	_ = refused(t, &answer{err: selfish{}}, xerror.ParameterError)
}

func FuzzAKeyThatFailedIsNeverShown(f *testing.F) {
	for _, key := range []string{
		"", "a", "hunter2", "12", "12345678", "a].b[c", "[", "]", "a.b",
		"\n", "][",
	} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		e := refused(t, &answer{err: userError{field: "Labels[" + key + "]", reason: "too short"}},
			xerror.ParameterError)
		got := list(t, e)[0].Field
		n, err := strconv.Atoi(key)
		if index := err == nil && n >= 0 && len(key) <= 7; got != "Labels[*]" &&
			(!index || got != "Labels["+key+"]") {
			t.Errorf("got %q", got)
		}
	})
}
