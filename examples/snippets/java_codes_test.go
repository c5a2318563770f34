package snippets_test

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xerror/javacode"
)

var orderShipped = xerror.MustErrorCode(40973, "ORDER_SHIPPED", "The order has been shipped",
	"订单已发货")

func TestJavaCode(t *testing.T) {
	t.Parallel()

	t.Run("is the general code for an application code", func(t *testing.T) {
		t.Parallel()
		if number, label := xerror.JavaCode(orderShipped); number != 40018 ||
			label != "OperationFailed" {
			t.Errorf("JavaCode = %d %s, want 40018 OperationFailed", number, label)
		}
	})

	t.Run("matches the table of the page", func(t *testing.T) {
		t.Parallel()
		page, err := os.ReadFile("../../docs/content/base-java/error-codes.md")
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{}
		for _, code := range xerror.Codes() {
			if detail := code.GetCode() % 100; detail >= firstApplicationDetail && detail < 99 &&
				!slices.Contains(javaOnly, code) {
				continue
			}
			number, label := xerror.JavaCode(code)
			key := fmt.Sprintf("%d %s", number, label)
			want[key] = append(want[key], fmt.Sprintf("`%s` %d", code.GetOutput(), code.GetCode()))
		}
		rows := javaRow.FindAllStringSubmatch(string(page), -1)
		if len(rows) != 58 {
			t.Errorf("the page has %d codes, want 58", len(rows))
		}
		for _, row := range rows {
			key := row[2] + " " + row[3]
			listed := strings.Split(row[4], ", ")
			slices.Sort(listed)
			slices.Sort(want[key])
			if !slices.Equal(listed, want[key]) {
				t.Errorf("%s: the page has %v, want %v", key, listed, want[key])
			}
			delete(want, key)
		}
		if len(want) > 0 {
			t.Errorf("codes missing on the page: %v", want)
		}
	})
}

// javaOnly contains the codes of package javacode.
var javaOnly = []*xerror.ErrorCode{
	javacode.BodyInvalid, javacode.HeaderInvalid, javacode.HeaderIllegal, javacode.OperationIllegal,
	javacode.OperationTypeError, javacode.RequestError, javacode.NetworkNotSuccess,
}

// javaRow matches a table row: Java name, number, label and Plinth codes.
var javaRow = regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\| (\\d+) \\| `([A-Za-z]+)` \\| (.*) \\|$")

// firstApplicationDetail is the first detail of application codes; other tests register
// some.
const firstApplicationDetail = 70

func TestJavaBusinessException(t *testing.T) {
	t.Parallel()
	errNoRow := errors.New("no row")
	find := func(id int64) error {
		if id <= 0 {
			return xerror.New(xerror.ParameterError, "the id is missing")
		}
		return xerror.WrapData(xerror.NotExist, "there is no such user", errNoRow, id)
	}
	var e *xerror.Error
	if err := find(0); !errors.Is(err, xerror.ParameterError) {
		t.Errorf("find(0) = %v", err)
	}
	if err := find(7); !errors.As(err, &e) || !errors.Is(err, errNoRow) || e.GetData() != int64(7) {
		t.Errorf("find(7) = %v", err)
	}
}
