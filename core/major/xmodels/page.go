package xmodels

import (
	"math"
	"strings"
)

const (
	// defaultPageSize and maxPageSize are numbers of items.
	defaultPageSize, maxPageSize = 20, 200

	// notCounted is the value of TotalItems and TotalPages if the rows were not counted.
	notCounted = -1
)

// PageRequest is a client's request for a page. Normalize corrects fields that are
// missing or out of range.
type PageRequest struct {
	// Page is the page number, starting at 1.
	Page int `json:"page" form:"page"`
	// Size is the number of items per page: 20 by default, at most 200.
	Size int `json:"size" form:"size"`
	// Sort is "asc" or "desc".
	Sort string `json:"sort" form:"sort"`
}

// StrictPageRequest is a PageRequest whose binding rejects values that are out of range
// instead of correcting them. For example, page=0, size=1000 and sort=up in a query are
// client errors. Missing values have the defaults of PageRequest.
type StrictPageRequest struct {
	Page int    `json:"page" form:"page,default=1"   binding:"min=1"`
	Size int    `json:"size" form:"size,default=20"  binding:"min=1,max=200"`
	Sort string `json:"sort" form:"sort,default=asc" binding:"oneof=asc desc"`
}

// PageRequest converts the request for Paginate and PageScope.
func (r StrictPageRequest) PageRequest() PageRequest { return PageRequest(r) }

// Normalize returns the request with every field in its range.
func (r PageRequest) Normalize() PageRequest {
	n := PageRequest{Page: max(r.Page, 1), Size: min(r.Size, maxPageSize), Sort: "asc"}
	if n.Size < 1 {
		n.Size = defaultPageSize
	}
	if strings.EqualFold(strings.TrimSpace(r.Sort), "desc") {
		n.Sort = "desc"
	}
	return n
}

// Offset returns the number of items before the page. It does not overflow: its maximum
// is the largest int minus the size of one page.
func (r PageRequest) Offset() int {
	n := r.Normalize()
	if n.Page-1 > (math.MaxInt-n.Size)/n.Size {
		return math.MaxInt - n.Size
	}
	return (n.Page - 1) * n.Size
}

// Limit returns the maximum number of items of the page.
func (r PageRequest) Limit() int { return r.Normalize().Size }

// OrderDirection returns "asc" or "desc".
func (r PageRequest) OrderDirection() string { return r.Normalize().Sort }

// Descending reports whether the order is descending.
func (r PageRequest) Descending() bool { return r.Normalize().Sort == "desc" }

// PageResponse is one page of items. TotalItems and TotalPages are -1 if the rows were
// not counted.
type PageResponse[T any] struct {
	CurrentPage int   `json:"current_page"`
	TotalPages  int64 `json:"total_pages"`
	TotalItems  int64 `json:"total_items"`
	Size        int   `json:"size"`
	Items       []T   `json:"items" binding:"required"`
}

// NewPage returns a page of items. It encodes nil items as an empty list, not null. A
// negative total means that the rows were not counted.
func NewPage[T any](page, size int, total int64, items []T) *PageResponse[T] {
	return NewPageFromRequest(PageRequest{Page: page, Size: size}, total, items)
}

// NewPageFromRequest is like NewPage with the normalized page and size of r.
func NewPageFromRequest[T any](r PageRequest, total int64, items []T) *PageResponse[T] {
	r = r.Normalize()
	if items == nil {
		items = []T{}
	}
	pages := int64(0)
	switch {
	case total < 0:
		total, pages = notCounted, notCounted
	case total > 0:
		pages = (total-1)/int64(r.Size) + 1
	}
	return &PageResponse[T]{
		CurrentPage: r.Page, TotalPages: pages, TotalItems: total, Size: r.Size, Items: items,
	}
}

// MapPage returns the page with every item converted, for example from an entity to a
// DTO.
func MapPage[T, U any](p *PageResponse[T], convert func(T) U) *PageResponse[U] {
	items := make([]U, len(p.Items))
	for i, item := range p.Items {
		items[i] = convert(item)
	}
	return &PageResponse[U]{
		CurrentPage: p.CurrentPage, TotalPages: p.TotalPages, TotalItems: p.TotalItems,
		Size: p.Size, Items: items,
	}
}

// PageDTO is a page in the format of the Java library.
type PageDTO[T any] struct {
	Records []T   `json:"records" binding:"required"`
	Total   int64 `json:"total"`
	Size    int   `json:"size"`
	Current int   `json:"current"`
}

// DTO converts the page to the format of the Java library.
func (p *PageResponse[T]) DTO() PageDTO[T] {
	return PageDTO[T]{Records: p.Items, Total: p.TotalItems, Size: p.Size, Current: p.CurrentPage}
}
