package probe

import (
	"errors"
	"fmt"
	"time"
)

// ForeignCPU measures how many CPUs are busy with other work than ours, in cores:
// it sleeps for span and takes what was busy meanwhile, stolen time included.
// It is right only while tare itself idles. Times come in ticks of 10 ms, so
// 200 ms resolve 0.05 cores.
func ForeignCPU(root string, span time.Duration) (cores float64, err error) {
	const tick = time.Second / userHz
	if span < tick {
		return 0, fmt.Errorf("sample CPU for %v: shorter than a tick: take %v or more", span, tick)
	}
	reader, err := OpenCPU(root)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	var before, after CPU
	if err := reader.Read(&before); err != nil {
		return 0, err
	}
	start := time.Now()
	time.Sleep(span)
	if err := reader.Read(&after); err != nil {
		return 0, err
	}
	return float64(after.Since(before).Busy) / time.Since(start).Seconds(), nil
}
