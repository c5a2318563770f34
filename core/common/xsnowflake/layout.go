package xsnowflake

import (
	"errors"
	"fmt"
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Part names what a run of bits in an id holds.
type Part uint8

// The parts of an id.
const (
	PartTime Part = iota + 1
	PartGene
	PartDatacenter
	PartNode
	PartSequence
)

var partNames = [...]string{"none", "time", "gene", "datacenter", "node", "sequence"}

// String returns the part's name.
func (p Part) String() string {
	if int(p) < len(partNames) {
		return partNames[p]
	}
	return "unknown"
}

// Field is a run of bits in an id.
type Field struct {
	Part Part
	Bits uint8
}

// Layout says where the parts of an id are. It is a value: copy one to change its epoch.
type Layout struct {
	// Name stands in errors.
	Name string
	// Epoch is the time that the time part counts from, in Unix milliseconds.
	Epoch int64
	// Fields are the parts, most significant first, ending at bit 0. Time is the first, a part stands at
	// most once, and one that is absent is always 0.
	Fields [5]Field
}

// epoch is that of the layouts below: 2023-07-24 16:00:00 UTC.
const epoch = 1690214400000

var layoutDefault = Layout{Name: "default", Epoch: epoch, Fields: [5]Field{
	{PartTime, 41}, {PartGene, 6}, {PartDatacenter, 3}, {PartNode, 3}, {PartSequence, 10},
}}

// The layouts that Plinth knows.
//
// The Java library's own epoch is not published. The two layouts of its ids carry the epoch of the
// default one; set Epoch to that of the service whose ids you read.
var (
	// LayoutDefault has 64 genes, 8 datacenters of 8 nodes, and 1024 ids per millisecond and gene.
	LayoutDefault = layoutDefault
	// LayoutWide has 1024 nodes without datacenters, and 64 ids per millisecond and gene. Time and gene
	// are where LayoutDefault has them.
	LayoutWide = Layout{Name: "wide", Epoch: epoch, Fields: [5]Field{
		{PartTime, 41}, {PartGene, 6}, {PartNode, 10}, {PartSequence, 6},
	}}
	// LayoutJava is the Java library's: 32 datacenters of 32 machines, 4096 ids per millisecond, no gene.
	LayoutJava = Layout{Name: "java", Epoch: epoch, Fields: [5]Field{
		{PartTime, 41}, {PartDatacenter, 5}, {PartNode, 5}, {PartSequence, 12},
	}}
	// LayoutJavaGene is the Java library's with genes of 8 bits (see KeyGene). Its parts fill all 64 bits,
	// so the ids of a Node stay positive for 2^40 ms, until 2058.
	LayoutJavaGene = Layout{Name: "java-gene", Epoch: epoch, Fields: [5]Field{
		{PartTime, 41}, {PartNode, 4}, {PartGene, 8}, {PartDatacenter, 3}, {PartSequence, 8},
	}}
)

// LayoutNamed returns the layout of Plinth with a name: default, wide, java or java-gene.
func LayoutNamed(name string) (Layout, error) {
	for _, l := range []Layout{LayoutDefault, LayoutWide, LayoutJava, LayoutJavaGene} {
		if l.Name == name {
			return l, nil
		}
	}
	return Layout{}, xenv.Problem(layoutKey, name, "is no id layout", xenv.Lookup(layoutKey).Accepted())
}

// Info is an id taken apart.
type Info struct {
	// Time is the millisecond of the id, in UTC.
	Time time.Time
	// Gene is the kind, or a derived gene.
	Gene Gene
	// DatacenterID and NodeID tell which node made the id.
	DatacenterID, NodeID int
	// Sequence counts the ids of the same millisecond, gene and node.
	Sequence int
}

// VerifyKey reports whether the gene is that of the business key, for ids in LayoutJavaGene.
func (i Info) VerifyKey(key string) bool { return i.Gene == KeyGene(key) }

// Parse takes an id apart. Every id has an Info: nothing in the bits tells which layout made them.
func (l Layout) Parse(id SnowflakeID) Info {
	var part [PartSequence + 1]uint64
	rest := uint64(id) // the bits are what counts
	for i := len(l.Fields) - 1; i >= 0; i-- {
		f := l.Fields[i]
		if f.Part > PartSequence {
			continue // Validate reports it
		}
		part[f.Part] = rest & (1<<f.Bits - 1)
		rest >>= f.Bits
	}
	return Info{
		Time:         time.UnixMilli(l.Epoch + int64(part[PartTime])).UTC(), // at most 41 bits
		Gene:         Gene(part[PartGene]),                                  // at most 8 bits
		DatacenterID: int(part[PartDatacenter]),                             // a few bits
		NodeID:       int(part[PartNode]),                                   // a few bits
		Sequence:     int(part[PartSequence]),                               // a few bits
	}
}

// Validate reports everything that is wrong with the layout.
func (l Layout) Validate() error {
	bits := map[Part]int{}
	total := 0
	var problems []error
	for i, f := range l.Fields {
		if f == (Field{}) {
			continue
		}
		if err := f.validate(i, bits[f.Part] != 0); err != nil {
			problems = append(problems, err)
		}
		bits[f.Part] = int(f.Bits)
		total += int(f.Bits)
	}
	if l.Fields[0].Part != PartTime {
		problems = append(problems, errors.New("time is not the first part"))
	}
	if bits[PartSequence] == 0 {
		problems = append(problems, errors.New("there is no sequence"))
	}
	if bits[PartDatacenter]+bits[PartNode] > maxSlotBits {
		problems = append(problems, fmt.Errorf("datacenter and node have more than %d bits", maxSlotBits))
	}
	if total > 64 {
		problems = append(problems, fmt.Errorf("the parts have %d bits (accepted: at most 64)", total))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("xsnowflake: layout %q: %w", l.Name, errors.Join(problems...))
}

// validate checks the field at index i, whose part has stood before or not.
func (f Field) validate(i int, before bool) error {
	switch {
	case f.Part == 0 || f.Part > PartSequence:
		return fmt.Errorf("field %d has no known part", i)
	case before:
		return fmt.Errorf("the part %s stands twice", f.Part)
	case f.Bits == 0 || f.Bits > partLimit[f.Part]:
		return fmt.Errorf("the part %s has %d bits (accepted: 1 to %d)", f.Part, f.Bits, partLimit[f.Part])
	}
	return nil
}

const maxSlotBits = 16

// partLimit bounds the bits of a part; a gene is one byte, and time and sequence fit one word beside a flag.
var partLimit = [...]uint8{PartTime: 42, PartGene: 8, PartDatacenter: maxSlotBits, PartNode: maxSlotBits, PartSequence: 20}

// packing is a layout prepared for making ids.
type packing struct {
	timeShift, geneShift, dcShift, nodeShift, seqShift uint8
	geneBits, dcBits, nodeBits, seqBits                uint8

	end int64 // the first millisecond of the layout that makes no positive id
}

func (l Layout) packing() packing {
	var shift, bits [PartSequence + 1]uint8
	var at uint8
	for i := len(l.Fields) - 1; i >= 0; i-- {
		f := l.Fields[i]
		shift[f.Part], bits[f.Part] = at, f.Bits
		at += f.Bits
	}
	return packing{
		timeShift: shift[PartTime], geneShift: shift[PartGene], dcShift: shift[PartDatacenter],
		nodeShift: shift[PartNode], seqShift: shift[PartSequence],
		geneBits: bits[PartGene], dcBits: bits[PartDatacenter], nodeBits: bits[PartNode], seqBits: bits[PartSequence],
		end: 1 << min(bits[PartTime], 63-shift[PartTime]),
	}
}

// genes is the number of genes that the layout tells apart.
func (p *packing) genes() int { return 1 << p.geneBits }

// slots is the number of nodes in one datacenter, times the datacenters.
func (p *packing) slots() int { return 1 << (p.dcBits + p.nodeBits) }

// slotBits places the number of a node in an id.
func (p *packing) slotBits(slot int) uint64 {
	dc, node := slot>>p.nodeBits, slot&(1<<p.nodeBits-1)
	return uint64(dc)<<p.dcShift | uint64(node)<<p.nodeShift // a few bits
}

// id joins a word (milliseconds and sequence), a gene and the placed number of the node.
func (p *packing) id(word uint64, g Gene, slotBits uint64) SnowflakeID {
	seq := word & (1<<p.seqBits - 1)
	ms := word >> p.seqBits
	return SnowflakeID(ms<<(p.timeShift&63) | uint64(g)<<(p.geneShift&63) | slotBits | seq<<(p.seqShift&63)) // ms < end
}
