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

// enter waits until all previous pieces have left the stage. It reports false if a piece has failed.
func (s *stages) enter(stage, piece int) bool {
	turns := s.turns[stage]
	select {
	case <-turns[piece%len(turns)]:
		return true
	case <-s.broken:
		return false
	}
}

// leave lets the next piece enter the stage, or ends all pieces after an error. It reports false
// after an error.
func (s *stages) leave(stage, piece int, err error) bool {
	if err != nil {
		s.fail(err)
		return false
	}
	turns := s.turns[stage]
	turns[(piece+1)%len(turns)] <- struct{}{}
	return true
}

// fail ends all pieces.
func (s *stages) fail(err error) {
	s.first.Do(func() {
		s.failed = err
		close(s.broken)
	})
}
