package xsnowflake

// Gene is the kind of thing that an id names, 0 to 63 in LayoutDefault.
//
// 0 to 15 belong to the framework, 16 to 63 to the application; those up to 31 have names
// here that it may use. Each gene has its own sequence, so the ids of one kind do not use
// up those of another.
type Gene uint8

// The genes of the framework. 10 to 15 are kept free for it.
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

// Genes with a name that an application may use; 32 to 63 have none.
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

// GeneProvider is what an entity implements to say of which kind its ids are.
type GeneProvider interface {
	GetGene() Gene
}
