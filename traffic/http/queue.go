package http

// queue holds each of some places once, first in, first out.
type queue struct {
	places     []int
	head, used int
}

func newQueue(room int) queue { return queue{places: make([]int, room)} }

func (q *queue) empty() bool { return q.used == 0 }

func (q *queue) push(place int) {
	q.places[(q.head+q.used)%len(q.places)] = place
	q.used++
}

func (q *queue) pop() int {
	place := q.places[q.head]
	q.head = (q.head + 1) % len(q.places)
	q.used--
	return place
}
