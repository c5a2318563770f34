package sqlserver_test

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"time"
)

// tdsKind is the kind of a request.
type tdsKind string

// Kinds of requests.
const (
	tdsBatch     tdsKind = "batch" // statement without parameters
	tdsRPC       tdsKind = "rpc"   // statement with parameters, or a procedure
	tdsBegin     tdsKind = "begin"
	tdsCommit    tdsKind = "commit"
	tdsRollback  tdsKind = "rollback"
	tdsAttention tdsKind = "attention" // cancels a statement
)

// tdsRequest is a request of a client.
type tdsRequest struct {
	Kind          tdsKind
	SQL           string
	Params        []tdsParam
	InTransaction bool   // whether a transaction is open on the server
	Transaction   uint64 // ID that the client sent; 0 without a transaction
	// Isolation level of a Begin: 0 unchanged, 2 READ COMMITTED, 4 SERIALIZABLE, 5
	// SNAPSHOT.
	Level byte
}

// tdsParam is a received parameter. Value is nil, int64, float64, bool, string, []byte or
// time.Time.
type tdsParam struct {
	Name, Type string
	Value      any
}

const tdsExecuteSQL = 10 // procedure ID of sp_executesql

func tdsParseStatement(kind byte, body []byte) (tdsRequest, error) {
	r := &tdsReader{data: body}
	tx := r.headers()
	if kind == tdsPacketBatch {
		return tdsRequest{Kind: tdsBatch, SQL: tdsFromUTF16(r.data), Transaction: tx}, r.err
	}
	q := tdsRequest{Kind: tdsRPC, Transaction: tx}
	if name := r.uint16(); name != 0xffff {
		q.SQL = r.text(int(name))
		r.uint16() // flags
	} else {
		if id := r.uint16(); id != tdsExecuteSQL {
			return q, fmt.Errorf("procedure %d", id)
		}
		r.uint16()
		q.SQL, _ = r.param().Value.(string)
		r.param() // the declarations
	}
	for len(r.data) > 0 && r.err == nil {
		q.Params = append(q.Params, r.param())
	}
	return q, r.err
}

// headers reads ALL_HEADERS, 2.2.5.3, and returns the transaction ID.
func (r *tdsReader) headers() (transaction uint64) {
	all := &tdsReader{data: r.bytes(int(r.uint32()) - 4)}
	for len(all.data) > 0 {
		one := &tdsReader{data: all.bytes(int(all.uint32()) - 4)}
		if one.uint16() == 2 {
			transaction = one.uint64()
		}
	}
	return transaction
}

// param reads a parameter of a remote procedure call, 2.2.6.6.
func (r *tdsReader) param() tdsParam {
	p := tdsParam{Name: r.shortText()}
	r.byte() // flags
	p.Type, p.Value = r.value()
	return p
}

// value reads a type and its value, 2.2.5.4 and 2.2.5.5.
func (r *tdsReader) value() (name string, value any) {
	switch kind := r.byte(); kind {
	case tdsTypeNull:
		return "null", nil
	case tdsTypeInt:
		return r.integer()
	case tdsTypeBit:
		r.byte()
		return "bit", tdsNullable(r.bytes(int(r.byte())), func(b []byte) any { return b[0] != 0 })
	case tdsTypeFloat:
		size := r.byte()
		return fmt.Sprintf("float(%d)", size), tdsNullable(r.bytes(int(r.byte())), tdsFloat)
	case tdsTypeDecimal:
		r.byte()
		precision, scale := r.byte(), r.byte()
		value := tdsNullable(r.bytes(int(r.byte())),
			func(b []byte) any { return tdsParseDecimal(b, int(scale)) })
		return fmt.Sprintf("decimal(%d,%d)", precision, scale), value
	case tdsTypeDateTimeOffset:
		scale := r.byte()
		value := tdsNullable(r.bytes(int(r.byte())),
			func(b []byte) any { return tdsParseDateTimeOffset(b, int(scale)) })
		return fmt.Sprintf("datetimeoffset(%d)", scale), value
	case tdsTypeNVarChar, tdsTypeVarBinary:
		return r.long(kind)
	default:
		r.err = fmt.Errorf("type %#x", kind)
		return "", nil
	}
}

func tdsNullable(b []byte, decode func([]byte) any) any {
	if len(b) == 0 {
		return nil
	}
	return decode(b)
}

func (r *tdsReader) integer() (string, any) {
	name := map[byte]string{1: "tinyint", 2: "smallint", 4: "int", 8: "bigint"}[r.byte()]
	b := r.bytes(int(r.byte()))
	switch len(b) {
	case 0:
		return name, nil
	case 1:
		return name, int64(b[0])
	case 2:
		return name, int64(int16(binary.LittleEndian.Uint16(b))) // sign-extended
	case 4:
		return name, int64(int32(binary.LittleEndian.Uint32(b))) // sign-extended
	default:
		return name, int64(binary.LittleEndian.Uint64(b)) // sign-extended
	}
}

// long reads a string or bytes, in one or several chunks.
func (r *tdsReader) long(kind byte) (string, any) {
	size := r.uint16()
	name := fmt.Sprintf("varbinary(%d)", size)
	if kind == tdsTypeNVarChar {
		r.bytes(5) // collation
		name = fmt.Sprintf("nvarchar(%d)", size/2)
	}
	var b []byte
	if size == 0xffff {
		name = map[byte]string{
			tdsTypeNVarChar:  "nvarchar(max)",
			tdsTypeVarBinary: "varbinary(max)",
		}[kind]
		if r.uint64() == tdsNull64 {
			return name, nil
		}
		for n := r.uint32(); n > 0; n = r.uint32() {
			b = append(b, r.bytes(int(n))...)
		}
	} else {
		n := r.uint16()
		if n == 0xffff {
			return name, nil
		}
		b = r.bytes(int(n))
	}
	if kind == tdsTypeNVarChar {
		return name, tdsFromUTF16(b)
	}
	return name, append([]byte{}, b...)
}

// tdsParseDateTimeOffset reads the fraction of the day and the days since year 1, both in
// UTC, and the offset of the time zone in minutes.
func tdsParseDateTimeOffset(b []byte, scale int) time.Time {
	n := len(b) - 5
	parts := new(big.Int).SetBytes(tdsReversed(b[:n])).Int64()
	for range 9 - scale {
		parts *= 10
	}
	days := int(b[n]) | int(b[n+1])<<8 | int(b[n+2])<<16
	minutes := int(int16(binary.LittleEndian.Uint16(b[n+3:]))) // sign-extended
	at := time.Date(1, 1, 1+days, 0, 0, 0, 0, time.UTC).Add(time.Duration(parts))
	return at.In(time.FixedZone("", minutes*60))
}
