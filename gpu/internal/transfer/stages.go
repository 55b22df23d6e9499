package transfer

import "sync"

// stages keeps pieces in order at each of several stages, while other pieces are at other stages.
// When one fails, all later ones fail.
type stages struct {
	turns  [stageCount][]chan struct{} // one channel per slot
	broken chan struct{}               // closed when a piece has failed
	first  sync.Once
	failed error
}

const (
	queueing = iota // on the device
	waiting         // for the device: one at a time, because some drivers spin
	stageCount
)

func newStages(slots int) *stages {
	s := &stages{broken: make(chan struct{})}
	for stage := range s.turns {
		for range slots {
			s.turns[stage] = append(s.turns[stage], make(chan struct{}, 1))
		}
		s.turns[stage][0] <- struct{}{}
	}
	return s
}

// take runs pass for a piece after all previous pieces have passed the stage.
func (s *stages) take(stage, piece int, pass func() error) error {
	turns := s.turns[stage]
	select {
	case <-turns[piece%len(turns)]:
	case <-s.broken:
		return s.failed
	}
	if err := pass(); err != nil {
		return s.fail(err)
	}
	turns[(piece+1)%len(turns)] <- struct{}{}
	return nil
}

// fail ends all pieces.
func (s *stages) fail(err error) error {
	s.first.Do(func() {
		s.failed = err
		close(s.broken)
	})
	return err
}
