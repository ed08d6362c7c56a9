package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Push sends an image for each of several architectures to a registry under one name, and gives
// the name by which no other is meant: with its digest. Who may push is read from where docker
// login and podman login keep it. Registries on the loopback are asked without TLS.
func Push(ctx context.Context, to string, images []Image) (string, error) {
	ref, err := name.ParseReference(to)
	if err != nil {
		return "", &NameError{to, err}
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, i := range images {
		image, err := tarball.Image(i.open, nil)
		if err != nil {
			return "", fmt.Errorf("make image: %w", err)
		}
		arch := cmp.Or(i.Arch, runtime.GOARCH)
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: runtime.GOOS, Architecture: arch}}})
	}
	if err := remote.WriteIndex(ref, index, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return "", fmt.Errorf("push image to %s: %w: look whether docker login, or podman login, lets you push there", ref, err)
	}
	sum, err := index.Digest()
	if err != nil {
		return "", fmt.Errorf("make image: %w", err)
	}
	return ref.Context().Digest(sum.String()).String(), nil
}

// NameError is a name that no image can have.
type NameError struct {
	Name string
	err  error
}

func (e *NameError) Error() string {
	return fmt.Sprintf("read the name of an image: %v: write REGISTRY/NAME:TAG", e.err)
}

func (e *NameError) Unwrap() error { return e.err }

// open writes an image while it is read.
func (i Image) open() (io.ReadCloser, error) {
	from, to := io.Pipe()
	go func() {
		err := i.Write(to)
		if errors.Is(err, io.ErrClosedPipe) { // the reader has what it wants
			err = nil
		}
		to.CloseWithError(err)
	}()
	return from, nil
}
