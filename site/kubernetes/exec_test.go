package kubernetes

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// Why a command in a pod ended is said with what is known of it, also where the API server that
// would know of the pod is away.
func TestWhatEndedACommandIsSaid(t *testing.T) {
	pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: metav1.ObjectMeta{Name: "h1-c1", Namespace: "n"}}
	pod.Status.Phase = corev1.PodRunning
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(corev1.PodList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}, Items: []corev1.Pod{pod}})
	}))
	defer server.Close()
	c, err := reach(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	says := func(name, want string) {
		t.Helper()
		got := c.became(t.Context(), "n", name, "its stream was ended")
		if !strings.Contains(got, want) || !strings.Contains(got, "run again") {
			t.Errorf("of %s it says %q, want %q and what to do", name, got, want)
		}
	}
	says("h1-c1", "pod h1-c1 still runs: its stream was ended")
	says("h2-c1", "pod h2-c1 is gone: it was evicted or deleted")
	server.Close()
	says("h1-c1", "its stream was ended; the API server does not answer: see whether kubectl get nodes does")
}
