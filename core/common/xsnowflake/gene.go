package xsnowflake

import "strconv"

// Gene is the kind of thing that an id names, 0 to 63 in LayoutDefault.
//
// 0 to 15 belong to the framework, 16 to 63 to the application; those up to 31 have names here that it
// may use. Each gene has its own sequence, so the ids of one kind do not use up those of another.
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

// GeneMax is the highest gene of LayoutDefault.
const GeneMax Gene = 63

// GeneProvider is what an entity implements to say of which kind its ids are.
type GeneProvider interface {
	GetGene() Gene
}

var geneNames = [...]string{
	GeneDefault: "default", GeneSystem: "system", GeneUser: "user", GeneRole: "role", GeneLog: "log",
	GeneConfig: "config", GeneFile: "file", GeneSession: "session", GeneToken: "token", GeneCache: "cache",
	GeneOrder: "order", GenePayment: "payment", GeneRefund: "refund", GeneProduct: "product",
	GeneCategory: "category", GeneInventory: "inventory", GeneCart: "cart", GeneCoupon: "coupon",
	GeneAddress: "address", GeneShipment: "shipment", GeneArticle: "article", GeneComment: "comment",
	GeneMessage: "message", GeneNotification: "notification", GeneDocument: "document", GeneTask: "task",
}

// String returns the gene's name, or "gene(40)" where it has none.
func (g Gene) String() string {
	if int(g) < len(geneNames) && geneNames[g] != "" {
		return geneNames[g]
	}
	return "gene(" + strconv.Itoa(int(g)) + ")"
}

// Valid reports whether the gene fits LayoutDefault.
func (g Gene) Valid() bool { return g <= GeneMax }
