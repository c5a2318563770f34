package dbtest

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/plinthgo/plinth/core/common/xerror"
	"github.com/plinthgo/plinth/core/common/xsnowflake"
	"github.com/plinthgo/plinth/core/major/xmodels"
)

var valueCases = []testCase{
	{"Values/NUL byte is stored or rejected", testNULByte},
	{"Values/invalid UTF-8 is stored or rejected", testBrokenUTF8},
	{"Values/decimals are exact", testDecimals},
	{"Values/rejects decimals out of range", testBadDecimals},
}

// textMethod writes and reads a text.
type textMethod struct {
	name  string
	write func(db *gorm.DB, text string) (xsnowflake.SnowflakeID, error)
	read  func(db *gorm.DB, id xsnowflake.SnowflakeID) (string, error)
}

var textMethods = []textMethod{
	{
		name: "short text column",
		write: func(db *gorm.DB, text string) (xsnowflake.SnowflakeID, error) {
			n := note{Text: text}
			err := db.Create(&n).Error
			return n.ID, err
		},
		read: readNote,
	},
	{
		name: "update",
		write: func(db *gorm.DB, text string) (xsnowflake.SnowflakeID, error) {
			n := note{Text: "before"}
			if err := db.Create(&n).Error; err != nil {
				return 0, fmt.Errorf("create: %w", err)
			}
			return n.ID, db.Model(&note{}).Where("id = ?", n.ID).Update("text", text).Error
		},
		read: readNote,
	},
	{
		name: "large text column",
		write: func(db *gorm.DB, text string) (xsnowflake.SnowflakeID, error) {
			e := event{Kind: "text", At: time.Now(), Body: &text}
			err := db.Create(&e).Error
			return e.ID, err
		},
		read: func(db *gorm.DB, id xsnowflake.SnowflakeID) (string, error) {
			var got event
			err := db.First(&got, id).Error
			if got.Body == nil {
				return "", err
			}
			return *got.Body, err
		},
	},
}

func readNote(db *gorm.DB, id xsnowflake.SnowflakeID) (string, error) {
	var got note
	err := db.First(&got, id).Error
	return got.Text, err
}

func testNULByte(tb testing.TB, s *suite) {
	db := s.open(tb, &note{}, &event{})
	for _, text := range []string{"\x00", secretValue + "\x00b", secretValue + "\x00"} {
		rejected := s.storedOrRejected(tb, db, text)
		switch methods := len(textMethods); {
		case s.differs(DiffNoNUL) && rejected < methods:
			tb.Errorf("%q was stored by %d of %d methods, although the harness declares %s",
				text, methods-rejected, methods, DiffNoNUL)
		case !s.differs(DiffNoNUL) && rejected > 0:
			tb.Errorf("%q was rejected by %d of %d methods", text, rejected, methods)
		}
	}
}

func testBrokenUTF8(tb testing.TB, s *suite) {
	db := s.open(tb, &note{}, &event{})
	for _, text := range []string{
		secretValue + "\xffb", secretValue + "\xc3", secretValue + "\xed\xa0\x80",
	} {
		s.storedOrRejected(tb, db, text)
	}
}

// storedOrRejected writes a text with every textMethod and returns the number of
// rejections. An accepted text must be stored unchanged. A rejection must have the code
// DataInvalid, because the client sent the text.
func (s *suite) storedOrRejected(tb testing.TB, db *gorm.DB, text string) (rejected int) {
	checkRejection := func(method string, err error) {
		if codeOf(err) != xerror.DataInvalid {
			tb.Errorf("%q in %s: code = %v, want %v (%T: %v)",
				text, method, codeOf(err), xerror.DataInvalid, err, err)
		}
		if strings.Contains(err.Error(), secretValue) {
			tb.Errorf("%q in %s: the error contains the value: %v", text, method, err)
		}
	}
	for _, m := range textMethods {
		id, err := m.write(db, text)
		if err != nil {
			rejected++
			checkRejection(m.name, err)
			continue
		}
		if got, err := m.read(db, id); err != nil || got != text {
			tb.Errorf("%q came back as %q from %s (%v)", text, got, m.name, err)
		}
	}
	if err := db.Where("text = ?", text).Find(&[]note{}).Error; err != nil {
		checkRejection("a condition", err)
	}
	return rejected
}

type price struct {
	xmodels.BaseEntity
	Amount string `gorm:"type:decimal(20,4);not null"`
}

// decimals returns numbers of up to 20 digits. Binary floating-point numbers have 15.
func (s *suite) decimals() []string {
	if s.differs(DiffNoDecimal) {
		return []string{"0", "12.5", "-0.0001", "1234567890.1234"}
	}
	return []string{
		"0", "12.5", "-0.0001", "0.1", "0.2", "1234567890123456.7891",
		"9999999999999999.9999", "-9999999999999999.9999",
	}
}

// wantNumber reports an error unless got and want are the same number. Databases differ
// in trailing zeros.
func wantNumber(tb testing.TB, what, got string, want *big.Rat) {
	if number, ok := new(big.Rat).SetString(got); !ok || number.Cmp(want) != 0 {
		tb.Errorf("%s = %q, want %s", what, got, want.FloatString(4))
	}
}

func testDecimals(tb testing.TB, s *suite) {
	db := s.open(tb, &price{})
	sum := new(big.Rat)
	for _, amount := range s.decimals() {
		want, _ := new(big.Rat).SetString(amount)
		sum.Add(sum, want)
		p := price{Amount: amount}
		check(tb, db.Create(&p).Error, "create")
		var got price
		check(tb, db.First(&got, p.ID).Error, "read")
		wantNumber(tb, "the amount", got.Amount, want)
	}
	if s.differs(DiffNoDecimal) {
		return
	}
	var total string
	check(tb, db.Model(&price{}).Select("SUM(amount)").Scan(&total).Error, "sum")
	wantNumber(tb, "the sum", total, sum)

	last := price{Amount: "9999999999999999.9999"}
	check(tb, db.Create(&last).Error, "create")
	check(tb, db.Model(&last).Update("amount", gorm.Expr("amount - 0.0001")).Error, "subtract")
	var got price
	check(tb, db.First(&got, last.ID).Error, "read")
	want, _ := new(big.Rat).SetString("9999999999999999.9998")
	wantNumber(tb, "the difference", got.Amount, want)
}

func testBadDecimals(tb testing.TB, s *suite) {
	db := s.open(tb, &price{})
	p := price{Amount: "1"}
	check(tb, db.Create(&p).Error, "create")
	if s.differs(DiffNoDecimal) {
		return
	}
	for _, bad := range []struct {
		name   string
		amount string
		want   *xerror.ErrorCode
	}{
		{"17 integer digits", "99999999999999999", xerror.DataOutOfRange},
		{"negative", "-10000000000000000.0000", xerror.DataOutOfRange},
		{"not a number", secretValue, xerror.DataInvalid},
	} {
		for method, err := range map[string]error{
			"create": db.Create(&price{Amount: bad.amount}).Error,
			"update": db.Model(&price{}).Where("id = ?", p.ID).Update("amount", bad.amount).Error,
		} {
			if err == nil || codeOf(err) != bad.want {
				tb.Errorf("%s: %s = %v (%T), want the code %v",
					method, bad.name, err, err, bad.want)
			} else if strings.Contains(err.Error(), bad.amount) {
				tb.Errorf("%s: %s: the error contains the value: %v", method, bad.name, err)
			}
		}
	}
	if got := count(tb, db, &price{}); got != 1 {
		tb.Errorf("rows = %d, want 1", got)
	}
}
