package trace

import (
	"encoding/json"
	"reflect"
	"testing"
)

// What one process saw is the same in another.
func TestPathIsSentWhole(t *testing.T) {
	stops := overlay()
	p := Path{
		Legs: map[Leg]*Span{
			{From: stops[0], To: stops[1]}:                 {All: *took(3, 700, 1), Like: Middle{3, 1950}},
			{Response: true, From: stops[1], To: stops[2]}: {All: *took(2, 90, 2)},
		},
		Whole: Span{All: *took(3, 30000, 0)}, Began: 5, Arrived: 3, Joined: 1,
		Lost: map[Loss]uint64{{Reason: "NETFILTER_DROP", At: "h2", Device: "eth0", Function: "nft_do_chain", Mine: true}: 7, {Reason: "NO_SOCKET"}: 1},
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var got Path
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, p) {
		t.Errorf("sent\n%+v\narrived\n%+v", p, got)
	}
}
