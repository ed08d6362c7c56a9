package protocol

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"tare/test/labtest"
)

// texts are messages of all lengths.
func texts() *rapid.Generator[[]string] {
	return rapid.SliceOfN(rapid.StringN(0, 200, 400), 1, 8)
}

// sent is what a peer writes that sends texts.
func sent(t *rapid.T, all []string) []byte {
	var out bytes.Buffer
	f := NewStream(nil, &out)
	for _, text := range all {
		if err := f.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// arrived reads texts until an error.
func arrived(stream []byte) (all []string, err error) {
	f := NewStream(bytes.NewReader(stream), nil)
	for {
		var text string
		if err := f.Read(&text); err != nil {
			return all, err
		}
		all = append(all, text)
	}
}

func TestMessagesArriveWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := texts().Draw(t, "messages")
		got, err := arrived(sent(t, all))
		if !errors.Is(err, io.EOF) || len(got) != len(all) {
			t.Fatalf("%d of %d messages, %v", len(got), len(all), err)
		}
		for n := range all {
			labtest.Equal(t, "message", got[n], strings.ToValidUTF8(all[n], "\ufffd"))
		}
	})
}

// TestNoMessageArrivesChanged: whatever a stream loses, repeats or changes, what arrives was
// sent, in its order, and what did not arrive is an error or was cut off at the end.
func TestNoMessageArrivesChanged(t *testing.T) {
	harms := map[string]func(stream []byte, from, to int) []byte{
		"loses":   func(s []byte, from, to int) []byte { return slices.Concat(s[:from], s[to:]) },
		"repeats": func(s []byte, from, to int) []byte { return slices.Concat(s[:to], s[from:]) },
		"cuts":    func(s []byte, from, _ int) []byte { return s[:from] },
		"changes": func(s []byte, from, to int) []byte {
			s = slices.Clone(s)
			for n := from; n < to; n++ {
				s[n] ^= 1
			}
			return s
		},
	}
	for name, harm := range harms {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				all := texts().Draw(t, "messages")
				stream := sent(t, all)
				from := rapid.IntRange(0, len(stream)-1).Draw(t, "from")
				to := rapid.IntRange(from+1, len(stream)).Draw(t, "to")
				harmed := harm(stream, from, to)
				got, err := arrived(harmed)
				if len(got) > len(all) {
					t.Fatalf("%d messages arrived of %d", len(got), len(all))
				}
				for n := range got {
					labtest.Equal(t, "message", got[n], strings.ToValidUTF8(all[n], "\ufffd"))
				}
				whole := len(got) == len(all)
				tail := bytes.HasPrefix(stream, harmed) // it ends between two messages
				if errors.Is(err, io.EOF) && !whole && !tail {
					t.Fatalf("%d of %d messages arrived, and the end", len(got), len(all))
				}
			})
		})
	}
}
