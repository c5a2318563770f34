package xsnowflake

// Gene is the kind of an entity, 0 to 63 in LayoutDefault.
//
// Genes 0 to 15 are reserved for the framework, and 16 to 63 are for the application.
// Each gene has its own sequence, so the ids of one kind do not exhaust the ids of
// another.
type Gene uint8

// Genes of the framework. 10 to 15 are reserved.
const (
	GeneDefault Gene = 0
	GeneSystem  Gene = 1
	GeneUser    Gene = 2
	GeneRole    Gene = 3
	GeneLog     Gene = 4
	GeneConfig  Gene = 5
	GeneFile    Gene = 6
	GeneSession Gene = 7
	GeneToken   Gene = 8
	GeneCache   Gene = 9
)

// Named genes for applications. 32 to 63 have no names.
const (
	GeneOrder        Gene = 16
	GenePayment      Gene = 17
	GeneRefund       Gene = 18
	GeneProduct      Gene = 19
	GeneCategory     Gene = 20
	GeneInventory    Gene = 21
	GeneCart         Gene = 22
	GeneCoupon       Gene = 23
	GeneAddress      Gene = 24
	GeneShipment     Gene = 25
	GeneArticle      Gene = 26
	GeneComment      Gene = 27
	GeneMessage      Gene = 28
	GeneNotification Gene = 29
	GeneDocument     Gene = 30
	GeneTask         Gene = 31
)

// GeneProvider is implemented by entities to define the gene of their ids.
type GeneProvider interface {
	GetGene() Gene
}
