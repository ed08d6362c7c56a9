package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// UnmarshalJSON reads an interval, also one of iperf3 3.7 to 3.9 with --bidir, whose two sums have one name.
func (i *Iperf3Interval) UnmarshalJSON(text []byte) error {
	type plain Iperf3Interval
	return json.Unmarshal(twoWays(text), (*plain)(i))
}

// UnmarshalJSON reads a summary, and is as that of Iperf3Interval.
func (e *Iperf3End) UnmarshalJSON(text []byte) error {
	type plain Iperf3End
	return json.Unmarshal(twoWays(text), (*plain)(e))
}

// twoWays names what an object has twice as newer versions do: the first is of the way from client to
// server, the second of the way back. Objects that have the name once are as they were.
func twoWays(object []byte) []byte {
	if bytes.Count(object, []byte(`"sum"`)) < 2 && bytes.Count(object, []byte(`"sum_sent"`)) < 2 {
		return object
	}
	values := map[string]json.RawMessage{}
	in := json.NewDecoder(bytes.NewReader(object))
	if _, err := in.Token(); err != nil {
		return object
	}
	for in.More() {
		key, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			return object
		}
		name := fmt.Sprint(key)
		if values[name] != nil && strings.HasPrefix(name, "sum") {
			name += "_bidir_reverse"
		}
		values[name] = value
	}
	named, err := json.Marshal(values)
	if err != nil {
		return object
	}
	return named
}
