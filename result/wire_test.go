package result

import (
	"reflect"
	"strings"
	"testing"

	"tare/test/labtest"
)

func TestParseLinks(t *testing.T) {
	for text, want := range map[string]struct {
		rates []BitsPerSecond
		wire  Wire
	}{
		"1gbit":                                 {[]BitsPerSecond{1e9}, Wire{}},
		"1gbit, 10gbit":                         {[]BitsPerSecond{1e9, 1e10}, Wire{}},
		"1gbit,delay=20ms,loss=0.1%,reorder=1%": {[]BitsPerSecond{1e9}, Wire{Delay: 0.02, Loss: 0.001, Reorder: 0.01}},
		"delay=5ms":                             {nil, Wire{Delay: 0.005}},
	} {
		rates, wire, err := ParseLinks(text)
		if err != nil || !reflect.DeepEqual(rates, want.rates) || wire != want.wire {
			t.Errorf("%q: %v, %+v, %v", text, rates, wire, err)
		}
		if wire.IsZero() {
			continue
		}
		_, again, err := ParseLinks(wire.String())
		if err != nil || again != wire {
			t.Errorf("%q is written as %q, which is %+v, %v", text, wire, again, err)
		}
	}
	for text, want := range map[string]string{
		"": "a rate", "fast": `"fast"`, "1gbit,jitter=2ms": "it has delay, loss and reorder", "loss=100%": "below 100 %", "delay=20": "ms, s",
	} {
		if _, _, err := ParseLinks(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

func TestParamsOfALink(t *testing.T) {
	labtest.Equal(t, "linked by nothing", Params{"mtu": 1500, "link": 0}.Linked(), false)
	for _, name := range []string{"link", "delay", "loss", "reorder"} {
		labtest.Equal(t, "linked by "+name, Params{name: 0.5}.Linked(), true)
	}
}
