// gemini as a process group: started, read, waited for, ended.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// collector reads a pipe until it ends, or until it is told that gemini has.
type collector struct {
	pipe *os.File
	keep int // bytes of the end to keep; 0 for all
	data []byte
	done chan struct{}
}

func newCollector(keep int) (*collector, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return &collector{pipe: r, keep: keep, done: make(chan struct{})}, w, nil
}

func (c *collector) add(piece []byte) {
	c.data = append(c.data, piece...)
	if c.keep > 0 && len(c.data) > 2*c.keep {
		c.data = append([]byte(nil), c.data[len(c.data)-c.keep:]...)
	}
}

func (c *collector) run() {
	defer close(c.done)
	defer c.pipe.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := c.pipe.Read(buffer)
		c.add(buffer[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return
		}
	}
	// gemini has ended, and somebody else holds its output: take what is there.
	c.pipe.SetReadDeadline(time.Time{})
	connection, err := c.pipe.SyscallConn()
	if err != nil {
		return
	}
	limit := time.Now().Add(time.Second)
	connection.Read(func(fd uintptr) bool {
		for time.Now().Before(limit) {
			n, err := syscall.Read(int(fd), buffer)
			if n <= 0 || err != nil {
				break
			}
			c.add(buffer[:n])
		}
		return true
	})
}

// finish returns what was read, without waiting for whoever holds the pipe.
func (c *collector) finish() []byte {
	c.pipe.SetReadDeadline(time.Unix(1, 0))
	<-c.done
	return c.data
}

// run starts gemini in a process group of its own and waits for its end.
// When the context ends or the time is up, the whole group is ended.
func run(ctx context.Context, program string, argv []string, environment []string, cwd, stdin string,
	timeout time.Duration) (*outcome, error) {
	stdout, stdoutEnd, err := newCollector(0)
	if err != nil {
		return nil, notStarted(err)
	}
	stderr, stderrEnd, err := newCollector(stderrKept)
	if err != nil {
		stdout.pipe.Close()
		stdoutEnd.Close()
		return nil, notStarted(err)
	}
	command := &exec.Cmd{
		Path:        program,
		Args:        append([]string{program}, argv...),
		Env:         environment,
		Dir:         cwd,
		Stdout:      stdoutEnd,
		Stderr:      stderrEnd,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	var input *os.File
	if stdin != "" {
		r, w, pipeErr := os.Pipe()
		err = pipeErr
		if err == nil {
			input = w
			command.Stdin = r
			defer r.Close()
		}
	}
	if err == nil {
		err = command.Start()
	}
	stdoutEnd.Close()
	stderrEnd.Close()
	if err != nil {
		stdout.pipe.Close()
		stderr.pipe.Close()
		if input != nil {
			input.Close()
		}
		return nil, notStarted(err)
	}
	if input != nil {
		command.Stdin.(*os.File).Close()
		defer input.Close()
		go func() {
			io.WriteString(input, stdin)
			input.Close()
		}()
	}
	go stdout.run()
	go stderr.run()

	exited := make(chan struct{})
	go func() {
		command.Wait()
		close(exited)
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	result := &outcome{}
	select {
	case <-exited:
	case <-ctx.Done():
		endGroup(command.Process.Pid, exited)
	case <-timer.C:
		result.timedOut = true
		endGroup(command.Process.Pid, exited)
	}
	result.stdout, result.stderr = stdout.finish(), stderr.finish()
	status := command.ProcessState.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		result.signal = status.Signal()
	}
	result.exit = status.ExitStatus()
	return result, nil
}

// endGroup asks a process group to end, and ends it when it does not.
func endGroup(group int, exited <-chan struct{}) {
	syscall.Kill(-group, syscall.SIGTERM)
	limit := time.Now().Add(grace)
	for time.Now().Before(limit) {
		if syscall.Kill(-group, 0) == syscall.ESRCH {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	syscall.Kill(-group, syscall.SIGKILL)
	<-exited
}

func notStarted(err error) error {
	var reason syscall.Errno
	if errors.As(err, &reason) {
		err = reason
	}
	if reason == syscall.E2BIG {
		return errors.New("The command line is longer than this system allows. Shorten the arguments.")
	}
	return fmt.Errorf("gemini could not be started: %v. See whether `gemini --version` works in a terminal.", err)
}
