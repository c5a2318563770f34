package xsnowflake

import (
	"time"

	"github.com/plinthgo/plinth/core/defined/xenv"
)

// Layout says where the parts of an id are. It is a value: copy one of those below to
// change its epoch.
type Layout struct {
	// Name is how SNOWFLAKE_LAYOUT and errors name the layout.
	Name string
	// Epoch is the time that the time part counts from, in Unix milliseconds.
	Epoch int64

	time, gene, datacenter, node, sequence field
}

// field is a run of bits in an id. One without bits is always 0.
type field struct{ shift, bits uint8 }

// of returns the value of the field in an id.
// at most 41 bits
func (f field) of(id uint64) int64 { return int64(id >> f.shift & (1<<f.bits - 1)) }

// values is how many values the field has.
func (f field) values() int { return 1 << f.bits }

// epoch is that of the layouts below: 2023-07-24 16:00:00 UTC.
const epoch = 1690214400000

// The layouts of ids.
//
// The Java library's own epoch is not published. The two layouts of its ids carry the
// epoch of the default one; set Epoch to that of the service whose ids you read.
var (
	// LayoutDefault has 64 genes, 8 datacenters of 8 nodes, and 1024 ids per millisecond
	// and gene.
	LayoutDefault = Layout{
		Name: "default", Epoch: epoch,
		time: field{22, 41}, gene: field{16, 6}, datacenter: field{13, 3}, node: field{10, 3},
		sequence: field{0, 10},
	}
	// LayoutWide has 1024 nodes without datacenters, and 64 ids per millisecond and gene.
	// Time and gene are where LayoutDefault has them.
	LayoutWide = Layout{
		Name: "wide", Epoch: epoch,
		time: field{22, 41}, gene: field{16, 6}, node: field{6, 10}, sequence: field{0, 6},
	}
	// LayoutJava is the Java library's: 32 datacenters of 32 machines, 4096 ids per
	// millisecond, no gene.
	LayoutJava = Layout{
		Name: "java", Epoch: epoch,
		time: field{22, 41}, datacenter: field{17, 5}, node: field{12, 5}, sequence: field{0, 12},
	}
	// LayoutJavaGene is the Java library's with genes of 8 bits (see KeyGene). Its parts
	// fill all 64 bits, so the ids of a Node stay positive for 2^40 ms, until 2058.
	LayoutJavaGene = Layout{
		Name: "java-gene", Epoch: epoch,
		time: field{23, 41}, node: field{19, 4}, gene: field{11, 8}, datacenter: field{8, 3},
		sequence: field{0, 8},
	}
)

// layoutDefault is what the methods of an id read, whatever an application does to
// LayoutDefault.
var layoutDefault = LayoutDefault

// LayoutNamed returns the layout with a name: default, wide, java or java-gene.
func LayoutNamed(name string) (Layout, error) {
	for _, known := range []Layout{LayoutDefault, LayoutWide, LayoutJava, LayoutJavaGene} {
		if known.Name == name {
			return known, nil
		}
	}
	return Layout{}, xenv.Problem(layoutKey, name, "is no id layout",
		xenv.Lookup(layoutKey).Accepted())
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

// VerifyKey reports whether the gene is that of the business key, for ids in
// LayoutJavaGene.
func (i Info) VerifyKey(key string) bool { return i.Gene == KeyGene(key) }

// Parse takes an id apart. Every id has an Info: nothing in the bits tells which layout
// made them.
func (l Layout) Parse(id SnowflakeID) Info {
	bits := uint64(id) // the bits are what counts
	return Info{
		Time:         time.UnixMilli(l.Epoch + l.time.of(bits)).UTC(),
		Gene:         Gene(l.gene.of(bits)), // at most 8 bits
		DatacenterID: int(l.datacenter.of(bits)),
		NodeID:       int(l.node.of(bits)),
		Sequence:     int(l.sequence.of(bits)),
	}
}

// Datacenters is the number of datacenters that the layout tells apart.
func (l Layout) Datacenters() int { return l.datacenter.values() }

// Nodes is the number of nodes in one datacenter.
func (l Layout) Nodes() int { return l.node.values() }

// end is the first millisecond of the layout that makes no positive id.
func (l Layout) end() int64 { return 1 << min(l.time.bits, 63-l.time.shift) }

// slotBits places the number of a node, counted through all datacenters, in an id.
func (l Layout) slotBits(slot int) uint64 {
	dc, node := slot>>l.node.bits, slot&(l.Nodes()-1)
	return uint64(dc)<<l.datacenter.shift | uint64(node)<<l.node.shift // a few bits
}
