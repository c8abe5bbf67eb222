// SPDX-License-Identifier: GPL-2.0-or-later

// A reader of /dev/cmt without libcmt, written from docs/abi.md alone: it maps the
// rings, prints their records in the order of time, and counts what was lost.
//
//	CGO_ENABLED=0 GO111MODULE=off go build -o ring-reader main.go
//	./ring-reader [-oldest] [-seconds N | -until NS] [-save FILE [-cpu N]]
//	./ring-reader -file FILE
//
// -save writes the ring of one CPU to a file, as a mapping has it; -file reads such a
// file instead of the device.
//
// Offsets and constants are those of docs/abi.md.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const (
	abiMajor    = 2
	getInfo     = 0xc000d400
	infoBytes   = 408
	ringMagic   = 0x524d5443
	headerBytes = 128
	recordBytes = 64
	words       = recordBytes / 8

	ringAbsent  = 0
	ringOffline = 2
	ringQuiet   = 3

	recCPUOffline = 33

	monotonic = 1
	quietNs   = 10000000
)

var names = map[uint16]string{
	1: "ALLOC", 2: "FREE", 3: "EXISTING", 4: "UPDATE", 5: "ALLOC_FAIL",
	16: "SAMPLE", 17: "TICK", 18: "PERF", 19: "CHANNEL",
	32: "CPU_ONLINE", 33: "CPU_OFFLINE", 34: "STATE",
}

type record [recordBytes]byte

func (r *record) u64(at int) uint64 { return binary.LittleEndian.Uint64(r[at:]) }
func (r *record) u32(at int) uint32 { return binary.LittleEndian.Uint32(r[at:]) }
func (r *record) u16(at int) uint16 { return binary.LittleEndian.Uint16(r[at:]) }
func (r *record) ts() uint64        { return r.u64(0) }
func (r *record) kind() uint16      { return r.u16(8) }

type ring struct {
	cpu       uint32
	memory    []byte
	records   uint64
	data      uintptr
	pos       uint64 // of the next record to be read
	delivered uint64
	lost      uint64
	unwritten uint64   // of the header, counted as lost
	waiting   []record // read, and not handed out
	last      uint64   // time of the last record that the ring showed
	offline   bool     // its last record is a CPU_OFFLINE
}

func (g *ring) at(offset uintptr) unsafe.Pointer {
	return unsafe.Pointer(&g.memory[offset])
}

func (g *ring) u32(offset uintptr) uint32 { return atomic.LoadUint32((*uint32)(g.at(offset))) }
func (g *ring) head() uint64              { return atomic.LoadUint64((*uint64)(g.at(64))) }
func (g *ring) counted() uint64           { return atomic.LoadUint64((*uint64)(g.at(72))) }
func (g *ring) state() uint32             { return g.u32(32) }

// The kernel may write the slot meanwhile: words are loaded one by one.
func (g *ring) slot(position uint64) (r record) {
	offset := g.data + uintptr(position&(g.records-1))*recordBytes
	for i := uintptr(0); i < words; i++ {
		word := atomic.LoadUint64((*uint64)(g.at(offset + 8*i)))
		binary.LittleEndian.PutUint64(r[8*i:], word)
	}
	return r
}

func (g *ring) keep(r record) {
	g.waiting = append(g.waiting, r)
	g.delivered++
	g.last = r.ts()
	g.offline = r.kind() == recCPUOffline
}

// All that is published.  A record counts as read only if the kernel cannot have begun to
// overwrite it before it was copied.
func (g *ring) read() {
	var batch [16]record
	head := g.head()
	unwritten := g.counted()
	g.lost += unwritten - g.unwritten
	g.unwritten = unwritten
	for g.pos < head {
		n := uint64(len(batch))
		if head-g.pos < n {
			n = head - g.pos
		}
		for i := uint64(0); i < n; i++ {
			batch[i] = g.slot(g.pos + i)
		}
		now := g.head()
		for i := uint64(0); i < n; i++ {
			if g.pos+i+g.records > now {
				g.keep(batch[i])
			} else {
				g.lost++
			}
		}
		g.pos += n
		if g.pos+g.records <= now {
			first := now - g.records + 1
			g.lost += first - g.pos
			g.pos = first
		}
	}
}

// No record of an earlier time will come.  now: before any head was loaded.
func (g *ring) bound(state uint32, now uint64, latency uint64) uint64 {
	bound := g.last
	later := func(t uint64) {
		if t > bound {
			bound = t
		}
	}
	switch {
	case state == ringAbsent, state == ringOffline && g.offline:
		later(now)
	case state == ringQuiet:
		later(now - quietNs)
	}
	later(now - latency)
	return bound
}

func text(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return fmt.Sprintf("%q", b)
}

func show(out *bufio.Writer, r *record) {
	name, known := names[r.kind()]
	if !known {
		return
	}
	fmt.Fprintf(out, "%d cpu=%d %s flags=0x%x rmid=%d generation=%d domain=%d",
		r.ts(), r.u16(10), name, r.u32(12), r.u32(16), r.u32(20), r.u32(24))
	switch name {
	case "ALLOC", "FREE", "UPDATE", "ALLOC_FAIL":
		fmt.Fprintf(out, " owner=%d cgroup_id=%d comm=%s", r.u32(28), r.u64(32), text(r[48:64]))
	case "SAMPLE":
		fmt.Fprintf(out, " occupancy_bytes=%d mbm_total_bytes=%d mbm_local_bytes=%d residual_bytes=%d",
			r.u64(32), r.u64(40), r.u64(48), r.u64(56))
	case "TICK":
		fmt.Fprintf(out, " interval_ns=%d missed=%d deferred=%d busy_ns=%d read=%d waiting=%d",
			r.u32(28), r.u64(32), r.u64(40), r.u64(48), r.u32(56), r.u32(60))
	}
	out.WriteByte('\n')
}

// Check the header against what the device said of its rings.
func newRing(memory []byte, instance uint64) (*ring, error) {
	if len(memory) < headerBytes {
		return nil, errors.New("shorter than a header")
	}
	g := &ring{memory: memory}
	g.cpu = g.u32(16)
	g.records = uint64(g.u32(20))
	g.data = uintptr(g.u32(28))
	if g.u32(0) != ringMagic || g.u32(4)>>16 != abiMajor ||
		atomic.LoadUint64((*uint64)(g.at(8))) != instance ||
		g.u32(24) != recordBytes ||
		g.records == 0 || g.records&(g.records-1) != 0 ||
		uint64(g.data)+recordBytes*g.records > uint64(len(memory)) {
		return nil, errors.New("the header makes no sense")
	}
	return g, nil
}

// A copy during which no record was published.
func (g *ring) copy() []byte {
	image := make([]byte, g.data+uintptr(g.records)*recordBytes)
	for {
		head := g.head()
		for offset := uintptr(0); offset < uintptr(len(image)); offset += 8 {
			word := atomic.LoadUint64((*uint64)(g.at(offset)))
			binary.LittleEndian.PutUint64(image[offset:], word)
		}
		if g.head() == head {
			return image
		}
	}
}

type device struct {
	fd    int
	info  [infoBytes]byte
	rings []*ring
}

func (d *device) u32(at int) uint32 { return binary.LittleEndian.Uint32(d.info[at:]) }
func (d *device) u64(at int) uint64 { return binary.LittleEndian.Uint64(d.info[at:]) }

func (d *device) open(path string) error {
	var err error
	d.fd, err = syscall.Open(path, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	binary.LittleEndian.PutUint32(d.info[0:], infoBytes)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(d.fd), getInfo,
		uintptr(unsafe.Pointer(&d.info[0])))
	if errno != 0 {
		return fmt.Errorf("%s: GET_INFO: %w", path, errno)
	}
	if version := d.u32(8); version>>16 != abiMajor {
		return fmt.Errorf("the module has ABI %d.%d, this program %d",
			version>>16, version&0xffff, abiMajor)
	}
	return nil
}

func (d *device) mapRing(cpu uint32, oldest bool) error {
	length := d.u64(72)
	memory, err := syscall.Mmap(d.fd, int64(uint64(cpu)*length), int(length),
		syscall.PROT_READ, syscall.MAP_SHARED)
	if err == syscall.ENXIO {
		return nil // not a possible CPU
	}
	if err != nil {
		return fmt.Errorf("the ring of CPU %d: %w", cpu, err)
	}
	g, err := newRing(memory, d.u64(24))
	if err != nil {
		return fmt.Errorf("the ring of CPU %d: %w", cpu, err)
	}
	g.pos = g.head()
	g.unwritten = g.counted()
	if oldest {
		if g.pos < g.records {
			g.pos = 0
		} else {
			g.pos -= g.records - 1
		}
	}
	d.rings = append(d.rings, g)
	return nil
}

func now() uint64 {
	var ts syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, monotonic, uintptr(unsafe.Pointer(&ts)), 0)
	return uint64(ts.Sec)*1000000000 + uint64(ts.Nsec)
}

// The ring whose next record, or bound, is first in (time, CPU), and that time.  Rings
// are in the order of CPUs.
func (d *device) least(bounds []uint64) (first *ring, least uint64) {
	for i, g := range d.rings {
		key := bounds[i]
		if len(g.waiting) > 0 {
			key = g.waiting[0].ts()
		}
		if first == nil || key < least {
			first, least = g, key
		}
	}
	return first, least
}

// One pass.  Returns the time up to which all records were handed out.
func (d *device) pass(out *bufio.Writer, until uint64) uint64 {
	bounds := make([]uint64, len(d.rings))
	begin := now()
	for i, g := range d.rings {
		state := g.state()
		g.read()
		bounds[i] = g.bound(state, begin, d.u64(96)*13/16)
	}
	for {
		g, least := d.least(bounds)
		if len(g.waiting) == 0 || least > until {
			return least
		}
		show(out, &g.waiting[0])
		g.waiting = g.waiting[1:]
	}
}

// All records that a reader at position 0 finds in a file.
func readFile(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	// Words are loaded from it: it must be aligned to 8, as a mapping is.
	memory := make([]uint64, (len(content)+7)/8)
	for i := range memory {
		var word [8]byte
		copy(word[:], content[8*i:])
		memory[i] = binary.LittleEndian.Uint64(word[:])
	}
	if len(memory)*8 < headerBytes {
		return fmt.Errorf("%s: shorter than a header", path)
	}
	image := unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), len(memory)*8)
	g, err := newRing(image, memory[1])
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	g.read()
	out := bufio.NewWriter(os.Stdout)
	for i := range g.waiting {
		show(out, &g.waiting[i])
	}
	fmt.Fprintf(out, "delivered=%d lost=%d\n", g.delivered, g.lost)
	return out.Flush()
}

func (d *device) save(path string, cpu uint32) error {
	for _, g := range d.rings {
		if g.cpu == cpu {
			return os.WriteFile(path, g.copy(), 0o644)
		}
	}
	return fmt.Errorf("no ring of CPU %d", cpu)
}

func (d *device) readUntil(until uint64) error {
	out := bufio.NewWriter(os.Stdout)
	for d.pass(out, until) <= until {
		time.Sleep(20 * time.Millisecond)
	}
	var delivered, lost uint64
	for _, g := range d.rings {
		delivered += g.delivered - uint64(len(g.waiting))
		lost += g.lost
	}
	fmt.Fprintf(out, "delivered=%d lost=%d\n", delivered, lost)
	return out.Flush()
}

func run() error {
	path := flag.String("device", "/dev/cmt", "the device")
	oldest := flag.Bool("oldest", false, "begin with the oldest record that is there")
	seconds := flag.Float64("seconds", 1, "read for so long")
	until := flag.Uint64("until", 0, "read up to this time, CLOCK_MONOTONIC ns")
	file := flag.String("file", "", "read the ring in this file, and no device")
	save := flag.String("save", "", "at the end, write the ring of a CPU to this file")
	cpu := flag.Uint("cpu", 0, "the CPU of -save")
	flag.Parse()

	if *file != "" {
		return readFile(*file)
	}
	var d device
	if err := d.open(*path); err != nil {
		return err
	}
	for cpu := uint32(0); cpu < d.u32(32); cpu++ {
		if err := d.mapRing(cpu, *oldest); err != nil {
			return err
		}
	}
	if *until == 0 {
		*until = now() + uint64(*seconds*1e9)
	}
	if err := d.readUntil(*until); err != nil || *save == "" {
		return err
	}
	return d.save(*save, uint32(*cpu))
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ring-reader:", err)
		os.Exit(1)
	}
}
