// Package orders has the handlers of a gin service without Plinth.
package orders

import (
	"errors"
	"log" //nolint:depguard // migrated in a later step
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"
)

// ErrSoldOut reports that an item is out of stock.
var ErrSoldOut = errors.New("sold out")

// Order is the order of a customer.
type Order struct {
	ID        uint      `gorm:"primaryKey"       json:"id"`
	CreatedAt time.Time `json:"created_at"`
	Item      string    `gorm:"size:64;not null" json:"item"`
	Count     int       `json:"count"`
}

// OrderRequest is the body of POST /orders.
type OrderRequest struct {
	Item  string `binding:"required,max=64"        json:"item"`
	Count int    `binding:"required,min=1,max=100" json:"count"`
}

// Server handles requests.
type Server struct{ DB *gorm.DB }

// Routes registers the routes.
func (s *Server) Routes(engine *gin.Engine) {
	engine.POST("/orders", s.Create)
}

// Envelope is the format of responses.
type Envelope struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data any    `json:"data,omitempty"`
}

// Create handles POST /orders.
//
//	@Summary	Create an order
//	@Tags		orders
//	@Accept		json
//	@Produce	json
//	@Param		order	body		OrderRequest			true	"Order"
//	@Success	200		{object}	Envelope{data=Order}	"Created order"
//	@Failure	400		{object}	Envelope				"Invalid order"
//	@Failure	409		{object}	Envelope				"Sold out"
//	@Failure	500		{object}	Envelope				"Internal error"
//	@Router		/orders [post]
func (s *Server) Create(c *gin.Context) {
	var request OrderRequest
	if err := c.ShouldBindJSON(&request); err != nil {
		c.JSON(http.StatusBadRequest, gin.H{"code": 400, "msg": err.Error()})
		return
	}
	order, err := s.place(request.Item, request.Count)
	if errors.Is(err, ErrSoldOut) {
		c.JSON(http.StatusConflict, gin.H{"code": 409, "msg": "sold out"})
		return
	}
	if err != nil {
		log.Printf("create order: %v", err)
		c.JSON(http.StatusInternalServerError, gin.H{"code": 500, "msg": "internal error"})
		return
	}
	go Notify(order)
	c.JSON(http.StatusOK, gin.H{"code": 0, "msg": "ok", "data": order})
}

func (s *Server) place(item string, count int) (*Order, error) {
	if item == "gone" {
		return nil, ErrSoldOut
	}
	order := &Order{Item: item, Count: count}
	return order, s.DB.Create(order).Error
}

// Clean deletes old orders every hour. It does not return.
func (s *Server) Clean() {
	for range time.Tick(time.Hour) {
		s.DB.Where("created_at < ?", time.Now().AddDate(0, 0, -90)).Delete(&Order{})
	}
}

// Notify is a placeholder for a message to the warehouse.
func Notify(order *Order) { _ = order.Item }
