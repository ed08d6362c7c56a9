package trace

import "encoding/json"

// sentPath is a path as it is sent from one process to another: keys that are no texts are
// none of JSON's.
type sentPath struct {
	Legs    []sentLeg  `json:"legs"`
	Whole   Span       `json:"whole"`
	Began   uint64     `json:"began"`
	Arrived uint64     `json:"arrived"`
	Joined  uint64     `json:"joined"`
	Lost    []sentLoss `json:"lost"`
}

type sentLeg struct {
	Leg  Leg   `json:"leg"`
	Span *Span `json:"span"`
}

type sentLoss struct {
	Loss    Loss   `json:"loss"`
	Packets uint64 `json:"packets"`
}

// MarshalJSON writes a path for UnmarshalJSON of the same version of tare.
func (p Path) MarshalJSON() ([]byte, error) {
	sent := sentPath{Whole: p.Whole, Began: p.Began, Arrived: p.Arrived, Joined: p.Joined}
	for leg, span := range p.Legs {
		sent.Legs = append(sent.Legs, sentLeg{leg, span})
	}
	for loss, packets := range p.Lost {
		sent.Lost = append(sent.Lost, sentLoss{loss, packets})
	}
	return json.Marshal(sent)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Path) UnmarshalJSON(text []byte) error {
	var sent sentPath
	if err := json.Unmarshal(text, &sent); err != nil {
		return err
	}
	*p = Path{Legs: map[Leg]*Span{}, Whole: sent.Whole, Began: sent.Began, Arrived: sent.Arrived, Joined: sent.Joined, Lost: map[Loss]uint64{}}
	for _, one := range sent.Legs {
		if one.Span != nil {
			p.Legs[one.Leg] = one.Span
		}
	}
	for _, one := range sent.Lost {
		p.Lost[one.Loss] = one.Packets
	}
	return nil
}
