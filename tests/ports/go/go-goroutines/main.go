// Written in Go with a goroutine for each call: speaks every revision, and searches JSON by hand.

package main

import (
	"bufio"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// close ends all calls and waits until nothing of them is left.
func (s *server) close() {
	s.mutex.Lock()
	s.closing = true
	for _, running := range s.calls {
		go running.stop()
	}
	s.mutex.Unlock()
	ended := make(chan struct{})
	go func() {
		s.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(exitLimit):
	}
}

func main() {
	stop := make(chan int, 8)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	go func() {
		for received := range signals {
			if received != syscall.SIGPIPE { // a failed write tells that, too
				stop <- 128 + int(received.(syscall.Signal))
			}
		}
	}()
	s := &server{
		out:    os.Stdout,
		calls:  map[string]*call{},
		queues: map[string]chan struct{}{},
		gone: func() {
			select {
			case stop <- 1:
			default:
			}
		},
	}
	go func() {
		reader := bufio.NewReaderSize(os.Stdin, 1<<16)
		for {
			line, err := reader.ReadBytes('\n')
			s.handle(line)
			if err != nil {
				stop <- 0
				return
			}
		}
	}()
	code := <-stop
	s.close()
	os.Exit(code)
}
