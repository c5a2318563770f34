package xsnowflake

import (
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Layout defines the bits of an id. To change the epoch, copy a layout.
type Layout struct {
	// Name is the name in SNOWFLAKE_LAYOUT and in errors.
	Name string
	// Epoch is the zero of the time part, in Unix milliseconds.
	Epoch int64

	time, gene, datacenter, node, sequence field
}

// field is a range of bits in an id. A field without bits is always 0.
type field struct{ shift, bits uint8 }

func (f field) of(id uint64) int64 { return int64(id >> f.shift & (1<<f.bits - 1)) }

func (f field) values() int { return 1 << f.bits }

// epoch is the epoch of all predefined layouts: 2023-07-24 16:00:00 UTC.
const epoch = 1690214400000

// Predefined layouts.
//
// The epoch of the Java library is not published. Its two layouts use the epoch of
// LayoutDefault; set Epoch to the epoch of the service that generated the ids.
var (
	// LayoutDefault has 64 genes, 8 datacenters of 8 nodes, and 1024 ids per millisecond
	// and gene.
	LayoutDefault = Layout{
		Name: "default", Epoch: epoch,
		time: field{22, 41}, gene: field{16, 6}, datacenter: field{13, 3}, node: field{10, 3},
		sequence: field{0, 10},
	}
	// LayoutWide has 1024 nodes without datacenters, and 64 ids per millisecond and gene.
	// Time and gene have the same bits as in LayoutDefault.
	LayoutWide = Layout{
		Name: "wide", Epoch: epoch,
		time: field{22, 41}, gene: field{16, 6}, node: field{6, 10}, sequence: field{0, 6},
	}
	// LayoutJava is compatible with the Java library: 32 datacenters of 32 machines, 4096
	// ids per millisecond, no gene.
	LayoutJava = Layout{
		Name: "java", Epoch: epoch,
		time: field{22, 41}, datacenter: field{17, 5}, node: field{12, 5}, sequence: field{0, 12},
	}
	// LayoutJavaGene is compatible with the Java library with genes of 8 bits (see
	// KeyGene). It uses all 64 bits, so the ids of a Node are positive for 2^40 ms, until
	// 2058.
	LayoutJavaGene = Layout{
		Name: "java-gene", Epoch: epoch,
		time: field{23, 41}, node: field{19, 4}, gene: field{11, 8}, datacenter: field{8, 3},
		sequence: field{0, 8},
	}
)

// layoutDefault is a copy of LayoutDefault for the methods of an id. Changes to
// LayoutDefault do not affect it.
var layoutDefault = LayoutDefault

// LayoutNamed returns the layout default, wide, java or java-gene.
func LayoutNamed(name string) (Layout, error) {
	for _, known := range []Layout{LayoutDefault, LayoutWide, LayoutJava, LayoutJavaGene} {
		if known.Name == name {
			return known, nil
		}
	}
	return Layout{}, xenv.Problem(layoutKey, name, "is not an id layout",
		xenv.Lookup(layoutKey).Accepted())
}

// Info contains the parts of an id.
type Info struct {
	// Time is the time of the id in UTC, with millisecond precision.
	Time time.Time
	// Gene is the kind of the entity, or a derived gene.
	Gene Gene
	// DatacenterID and NodeID identify the node that generated the id.
	DatacenterID, NodeID int
	// Sequence is the position among the ids of the same millisecond, gene and node.
	Sequence int
}

// VerifyKey reports whether the gene matches the business key, for ids in LayoutJavaGene.
func (i Info) VerifyKey(key string) bool { return i.Gene == KeyGene(key) }

// Parse returns the parts of an id. It cannot detect ids of another layout.
func (l Layout) Parse(id SnowflakeID) Info {
	bits := uint64(id) // the same 64 bits
	return Info{
		Time:         time.UnixMilli(l.Epoch + l.time.of(bits)).UTC(),
		Gene:         Gene(l.gene.of(bits)), // at most 8 bits
		DatacenterID: int(l.datacenter.of(bits)),
		NodeID:       int(l.node.of(bits)),
		Sequence:     int(l.sequence.of(bits)),
	}
}

// Datacenters returns the number of datacenters.
func (l Layout) Datacenters() int { return l.datacenter.values() }

// Nodes returns the number of nodes in one datacenter.
func (l Layout) Nodes() int { return l.node.values() }

// end returns the first millisecond without positive ids.
func (l Layout) end() int64 { return 1 << min(l.time.bits, 63-l.time.shift) }

// slotBits shifts a slot, the index of a node across all datacenters, to its position in
// an id.
func (l Layout) slotBits(slot int) uint64 {
	dc, node := slot>>l.node.bits, slot&(l.Nodes()-1)
	return uint64(dc)<<l.datacenter.shift | uint64(node)<<l.node.shift // a few bits
}
