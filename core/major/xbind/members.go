package xbind

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// members are the names that an object has had so far.
type members struct {
	base int             // the first of them in scanner.keys
	seen [2]uint64       // fields of the plan
	more map[string]bool // where there are more than fit seen, or than linearKeys
}

// member enters a name and returns the plan of its value.
func (d *scanner) member(p *plan, m *members, name []byte) (*plan, fault) {
	if i := p.field(name); i >= 0 {
		if !d.allowDup && m.field(i) {
			return nil, faultDuplicate
		}
		return p.fields[i].plan, faultNone
	}
	if d.refuseUnknown && p.closed {
		return nil, faultUnknown
	}
	if !d.allowDup && d.repeated(m, name) {
		return nil, faultDuplicate
	}
	return p.member, faultNone
}

// field enters the field and reports whether it was there.
func (m *members) field(i int) bool {
	if i >= 64*len(m.seen) {
		return m.text("#" + strconv.Itoa(i))
	}
	bit := uint64(1) << (i % 64)
	was := m.seen[i/64]&bit != 0
	m.seen[i/64] |= bit
	return was
}

func (m *members) text(name string) bool {
	if m.more[name] {
		return true
	}
	if m.more == nil {
		m.more = map[string]bool{}
	}
	m.more[name] = true
	return false
}

// repeated enters a name that no field takes and reports whether it was there.
func (d *scanner) repeated(m *members, name []byte) bool {
	mine := d.keys[m.base:]
	if len(mine) < linearKeys {
		for _, k := range mine {
			if bytes.Equal(k, name) {
				return true
			}
		}
		d.keys = append(d.keys, name)
		return false
	}
	if len(mine) == linearKeys {
		for _, k := range mine {
			m.text("$" + string(k))
		}
		d.keys = append(d.keys, nil) // so that this happens once
	}
	return m.text("$" + string(name))
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}
