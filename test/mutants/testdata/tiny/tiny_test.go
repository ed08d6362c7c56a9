package tiny

import "testing"

func TestTiny(t *testing.T) {
	if Sum(1, 2) != 3 || len(Room(4)) != 0 || Join("a", "b") != "ab" || Count(3) != 2 {
		t.Fail()
	}
}
