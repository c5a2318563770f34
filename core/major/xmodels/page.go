package xmodels

import (
	"math"
	"strings"
)

const (
	// defaultPageSize and maxPageSize are the bounds of a page.
	defaultPageSize, maxPageSize = 20, 200

	// notCounted stands in TotalItems and TotalPages of a page that was made without
	// counting.
	notCounted = -1
)

// PageRequest is what a client says about the page that it wants. Fields that are missing
// or out of bounds are put right by Normalize: a page is no reason for an error.
type PageRequest struct {
	// Page counts from 1.
	Page int `json:"page" form:"page"`
	// Size is the number of items of a page, 20 by default and at most 200.
	Size int `json:"size" form:"size"`
	// Sort is asc or desc.
	Sort string `json:"sort" form:"sort"`
}

// StrictPageRequest is a PageRequest whose values are refused, not corrected, if they are
// out of bounds: bound from the query, page=0, size=1000 and sort=up are errors of the
// client. Missing values are the defaults.
type StrictPageRequest struct {
	Page int    `json:"page" form:"page,default=1"   binding:"min=1"`
	Size int    `json:"size" form:"size,default=20"  binding:"min=1,max=200"`
	Sort string `json:"sort" form:"sort,default=asc" binding:"oneof=asc desc"`
}

// PageRequest returns the request in the form that the other functions accept.
func (r StrictPageRequest) PageRequest() PageRequest { return PageRequest(r) }

// Normalize returns the request with every field within its bounds.
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

// Offset returns how many items stand before the page. It does not overflow: a page
// beyond what an int can count begins at the largest int, less one page.
func (r PageRequest) Offset() int {
	n := r.Normalize()
	if n.Page-1 > (math.MaxInt-n.Size)/n.Size {
		return math.MaxInt - n.Size
	}
	return (n.Page - 1) * n.Size
}

// Limit returns how many items a page has at most.
func (r PageRequest) Limit() int { return r.Normalize().Size }

// OrderDirection returns "asc" or "desc".
func (r PageRequest) OrderDirection() string { return r.Normalize().Sort }

// Descending reports whether the direction is desc.
func (r PageRequest) Descending() bool { return r.Normalize().Sort == "desc" }

// PageResponse is one page of items. TotalItems and TotalPages are -1 if they were not
// counted.
type PageResponse[T any] struct {
	CurrentPage int   `json:"current_page"`
	TotalPages  int64 `json:"total_pages"`
	TotalItems  int64 `json:"total_items"`
	Size        int   `json:"size"`
	Items       []T   `json:"items"`
}

// NewPage returns a page of items; no items are an empty list, not null. A total below 0
// was not counted.
func NewPage[T any](page, size int, total int64, items []T) *PageResponse[T] {
	return NewPageFromRequest(PageRequest{Page: page, Size: size}, total, items)
}

// NewPageFromRequest is NewPage with the page and the size of a request.
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
		CurrentPage: r.Page, TotalPages: pages, TotalItems: total, Size: r.Size,
		Items: items,
	}
}

// MapPage returns the page with every item converted, such as from an entity to what
// clients see.
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

// PageDTO is a page in the shape of the Java library.
type PageDTO[T any] struct {
	Records []T   `json:"records"`
	Total   int64 `json:"total"`
	Size    int   `json:"size"`
	Current int   `json:"current"`
}

// DTO returns the page in the shape of the Java library.
func (p *PageResponse[T]) DTO() PageDTO[T] {
	return PageDTO[T]{Records: p.Items, Total: p.TotalItems, Size: p.Size, Current: p.CurrentPage}
}
