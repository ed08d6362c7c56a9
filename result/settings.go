package result

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Settings are the parameters of one network of a plan, by name, as one
// comparable value; in files they are a mapping. Empty: the network's defaults.
type Settings string

// MakeSettings joins parameters; those without a value are left out.
func MakeSettings(params map[string]string) Settings {
	values := url.Values{}
	for name, value := range params {
		if value != "" {
			values.Set(name, value)
		}
	}
	return Settings(values.Encode()) // sorted by name
}

// Map gives the parameters by name.
func (s Settings) Map() map[string]string {
	params := map[string]string{}
	values, err := url.ParseQuery(string(s))
	if err != nil {
		return params // only MakeSettings writes them
	}
	for name := range values {
		params[name] = values.Get(name)
	}
	return params
}

// With sets one parameter.
func (s Settings) With(name, value string) Settings {
	params := s.Map()
	params[name] = value
	return MakeSettings(params)
}

// String is for people: "containers=25 rules=100".
func (s Settings) String() string {
	params := s.Map()
	var words []string
	for _, name := range slices.Sorted(maps.Keys(params)) {
		words = append(words, name+"="+params[name])
	}
	return strings.Join(words, " ")
}

// MarshalJSON writes a mapping.
func (s Settings) MarshalJSON() ([]byte, error) { return json.Marshal(s.Map()) }

// UnmarshalJSON reads a mapping.
func (s *Settings) UnmarshalJSON(text []byte) error {
	var params map[string]string
	if err := json.Unmarshal(text, &params); err != nil {
		return fmt.Errorf("read parameters of a network: %w", err)
	}
	*s = MakeSettings(params)
	return nil
}

// MarshalYAML writes a mapping.
func (s Settings) MarshalYAML() (any, error) { return s.Map(), nil }

// UnmarshalYAML reads a mapping; numbers need no quotes.
func (s *Settings) UnmarshalYAML(decode func(any) error) error {
	var params map[string]string
	if err := decode(&params); err != nil {
		return err
	}
	*s = MakeSettings(params)
	return nil
}
