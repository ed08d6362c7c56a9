package workload

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
)

// mostGarbage is how much more memory than before a run a process may hold, in bytes, until the
// collector works in the windows of those whose libraries allocate: each handshake of TLS and each
// call of gRPC leaves some kilobytes. All of a lab's processes may hold as much at the same time.
const mostGarbage = 64 << 20

// bounded lets one end of a run hold so much, unless its process is bounded already: by who serves
// any peer, or by the other end, where that has the same process.
func bounded[A, C, R any](run func(context.Context, A, C) (R, error)) func(context.Context, A, C) (R, error) {
	return func(ctx context.Context, at A, asked C) (R, error) {
		if before := debug.SetMemoryLimit(-1); before == math.MaxInt64 {
			var held runtime.MemStats
			runtime.ReadMemStats(&held)
			debug.SetMemoryLimit(int64(held.HeapAlloc) + mostGarbage)
			defer debug.SetMemoryLimit(before)
		}
		return run(ctx, at, asked)
	}
}
