package traffic

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// OnThreads runs work(0) to work(n-1) on a locked thread each and gives the
// first error, which stops the others.
func OnThreads(r *Run, n int, work func(int) error) error {
	var all sync.WaitGroup
	var first sync.Once
	var failure error
	for i := range n {
		all.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			if err := work(i); err != nil {
				first.Do(func() { failure = err })
				r.Stop()
			}
		})
	}
	all.Wait()
	return failure
}

// Distribute divides things among so many threads, in turn.
func Distribute[T any](all []T, threads int) [][]T {
	shares := make([][]T, threads)
	for i, one := range all {
		shares[i%threads] = append(shares[i%threads], one)
	}
	return shares
}

// CPUs is how many CPUs the calling thread may run on.
func CPUs() int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return runtime.NumCPU()
	}
	return max(1, set.Count())
}
