package result

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	maxSizes = 64
	maxSize  = 1 << 30
)

// ParseSizes reads the message sizes of a sweep in bytes: a comma list
// (1,64,1K), or first:last:step as qperf's loops write it, where the step
// multiplies (1:4K:*2) or adds (64:1024:64). K, M are 2^10 and 2^20. The sizes
// come in rising order, each once, 64 at most.
func ParseSizes(text string) ([]int, error) {
	var sizes []int
	for word := range strings.SplitSeq(text, ",") {
		some, err := parseSpan(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("read sizes %q: %w", text, err)
		}
		sizes = append(sizes, some...)
	}
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) > maxSizes {
		return nil, fmt.Errorf("read sizes %q: these are %d sizes: take %d at most, with a wider step", text, len(sizes), maxSizes)
	}
	return sizes, nil
}

// parseSpan reads one size, or first:last:step.
func parseSpan(word string) ([]int, error) {
	parts := strings.Split(word, ":")
	first, err := ParseSize(parts[0])
	if err != nil || len(parts) == 1 {
		return []int{first}, err
	}
	if len(parts) != 3 {
		return nil, fmt.Errorf("%q: write first:last:step, as in 8:256K:*2", word)
	}
	last, err := ParseSize(parts[1])
	if err != nil {
		return nil, err
	}
	digits, multiplies := strings.CutPrefix(parts[2], "*")
	step, err := ParseSize(strings.TrimPrefix(digits, "+"))
	switch {
	case err != nil:
		return nil, err
	case multiplies && step < 2:
		return nil, fmt.Errorf("%q: a step that multiplies must be 2 or more", word)
	case last < first:
		return nil, fmt.Errorf("%q: the last size is below the first", word)
	}
	var sizes []int
	for size := first; size <= last && len(sizes) <= maxSizes; {
		sizes = append(sizes, size)
		if multiplies {
			size *= step
		} else {
			size += step
		}
	}
	return sizes, nil
}

// ParseSize reads a number of bytes: 64, 8K, 1M, 2G. It is at least 1 and at
// most 1G.
func ParseSize(text string) (int, error) {
	bytes, err := ParseBytes(text)
	if err == nil && bytes > maxSize {
		err = fmt.Errorf("%q: it must be at most 1G", text)
	}
	return int(bytes), err
}

// ParseBytes reads an amount of data as ParseSize does, without its bound.
func ParseBytes(text string) (int64, error) {
	word := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(text)), "B")
	shift := 0
	for n, suffix := range []string{"K", "M", "G", "T"} {
		if digits, ok := strings.CutSuffix(word, suffix); ok {
			word, shift = digits, 10*(n+1)
		}
	}
	value, err := strconv.ParseInt(word, 10, 64)
	if err != nil || value < 1 || value > (1<<62)>>shift {
		return 0, fmt.Errorf("%q: write a number of bytes above zero, with K, M or G where wanted, as in 64K", text)
	}
	return value << shift, nil
}
