// The traffic program of franz-go; ../arguments.ts says what it is told and what it says.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	blockRecords = 1000
	stepRecords  = 100
	readRecords  = 500
	slowShare    = 0.2
	slowStep     = 50 * time.Millisecond
	reports      = 20
)

// nullHeaderBlock is the one whose headers topics named nonull.… have with an empty value.
const nullHeaderBlock = 3

var blockHeaders = [][]kgo.RecordHeader{
	nil,
	{{Key: "plain", Value: []byte("value")}},
	{{Key: "empty", Value: []byte{}}},
	{{Key: "null", Value: nil}},
	{{Key: "twice", Value: []byte("1")}, {Key: "twice", Value: []byte("é漢")}},
}

type topicState struct {
	name, codec string
	seed        uint32
	partitions  []partitionState
	Records     int64  `json:"records"`
	Timestamps  uint32 `json:"timestamps"`
}

type partitionState struct {
	// The offset that comes next, and the first that has never come.
	next, end int64
	// Set when the client has lost its assignment: it may read again what it had not committed.
	isLost atomic.Bool
}

var (
	values       = map[string]string{}
	topics       []*topicState
	base         int64
	partitions   int
	perPartition int64
	marks        []float64
	total        int64
	// Read, each counted once.
	records int64
)

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", arguments...)
	os.Exit(1)
}

func number(name string) int64 {
	value, err := strconv.ParseInt(values[name], 10, 64)
	if err != nil {
		fail("%s=%s is no number", name, values[name])
	}
	return value
}

func readArguments() {
	for _, argument := range os.Args[1:] {
		name, value, _ := strings.Cut(argument, "=")
		values[name] = value
	}
	base, partitions, perPartition = number("base"), int(number("partitions")), number("records")
	for _, topic := range strings.Split(values["topics"], ",") {
		name, codec, _ := strings.Cut(topic, ":")
		topics = append(topics, &topicState{name: name, codec: codec, seed: seedOf(name), partitions: make([]partitionState, partitions)})
	}
	for _, mark := range strings.Split(values["marks"], ",") {
		if share, err := strconv.ParseFloat(mark, 64); err == nil {
			marks = append(marks, share)
		}
	}
	total = int64(len(topics)) * int64(partitions) * perPartition
}

func seedOf(topic string) uint32 {
	hash := uint32(0x811c9dc5)
	for _, each := range []byte(topic) {
		hash = (hash ^ uint32(each)) * 0x01000193
	}
	return hash
}

func mixed(x uint32) uint32 {
	x = (x ^ x>>16) * 0x7feb352d
	x = (x ^ x>>15) * 0x846ca68b
	return x ^ x>>16
}

// contentOf leaves the timestamp zero where the producer's own clock gives it.
func contentOf(topic *topicState, partition int, sequence int64) *kgo.Record {
	x := mixed(topic.seed + uint32(partition)*0x85ebca77 + uint32(sequence)*0xc2b2ae3d)
	block := sequence / blockRecords
	var nothing []byte
	if block%2 != 0 {
		nothing = []byte{}
	}
	record := &kgo.Record{
		Topic: topic.name, Partition: int32(partition), Key: nothing, Value: nothing,
		Headers: blockHeaders[block%int64(len(blockHeaders))],
	}
	if strings.HasPrefix(topic.name, "nonull.") && block%int64(len(blockHeaders)) == nullHeaderBlock {
		record.Headers = []kgo.RecordHeader{{Key: "null", Value: []byte{}}}
	}
	if x&3 != 0 {
		record.Key = []byte(fmt.Sprintf("key-%d", x%1000))
	}
	if x>>8&7 != 0 {
		text := fmt.Sprintf("%s/%d/%d/é漢🐟/%s", topic.name, partition, sequence, strings.Repeat("abcdefgh-", int(x>>12&15)))
		record.Value = append([]byte(text), 0xff, 0xfe)
	}
	if !strings.HasPrefix(topic.name, "clock.") {
		record.Timestamp = time.UnixMilli(base + sequence*3 + int64(x%2000))
	}
	return record
}

var reported, reached, releases int64

func isHeld() bool { return atomic.LoadInt64(&releases) <= reached }

func isPastMarks() bool { return reached == int64(len(marks)) && !isHeld() }

func readReleases() {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		atomic.AddInt64(&releases, 1)
	}
}

func ready() {
	fmt.Println("ready")
	for isHeld() {
		time.Sleep(5 * time.Millisecond)
	}
}

func step(done int64) {
	if done*reports >= (reported+1)*total {
		reported = done * reports / total
		fmt.Println("at", done)
	}
	if !isHeld() && reached < int64(len(marks)) && float64(done) >= marks[reached]*float64(total) {
		fmt.Println("mark", done)
		reached++
	}
	for isHeld() {
		time.Sleep(slowStep)
		if float64(done) < (marks[reached-1]+slowShare)*float64(total) {
			return
		}
	}
}

func common(more ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append(more, kgo.SeedBrokers(values["address"]), kgo.ClientID(values["client"]))...)
	if err != nil {
		fail("%v", err)
	}
	return client
}

func codecOf(name string) kgo.CompressionCodec {
	switch name {
	case "gzip":
		return kgo.GzipCompression()
	case "snappy":
		return kgo.SnappyCompression()
	case "lz4":
		return kgo.Lz4Compression()
	case "zstd":
		return kgo.ZstdCompression()
	}
	return kgo.NoCompression()
}

func produce() int64 {
	var sent, acknowledged int64
	clients := make([]*kgo.Client, len(topics))
	for i, topic := range topics {
		clients[i] = common(
			kgo.RequiredAcks(kgo.AllISRAcks()), kgo.ProducerBatchCompression(codecOf(topic.codec)),
			kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(5*time.Millisecond))
	}
	ready()
	background := context.Background()
	for sequence := int64(0); sequence < perPartition; sequence++ {
		for i, topic := range topics {
			for partition := 0; partition < partitions; partition++ {
				expected := sequence
				clients[i].Produce(background, contentOf(topic, partition, sequence), func(record *kgo.Record, err error) {
					if err != nil || record.Offset != expected {
						fail("%s-%d@%d: offset %d, %v", record.Topic, record.Partition, expected, record.Offset, err)
					}
					atomic.AddInt64(&acknowledged, 1)
				})
				if sent++; sent%stepRecords == 0 {
					step(sent)
				}
			}
		}
	}
	for _, client := range clients {
		if err := client.Flush(background); err != nil {
			fail("%v", err)
		}
		client.Close()
	}
	if acknowledged != total {
		fail("%d of %d records were acknowledged", acknowledged, total)
	}
	return sent
}

// sameBytes tells null from empty.
func sameBytes(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }

func sameContent(a, b *kgo.Record) bool {
	if len(a.Headers) != len(b.Headers) || !sameBytes(a.Key, b.Key) || !sameBytes(a.Value, b.Value) {
		return false
	}
	for i, header := range a.Headers {
		if header.Key != b.Headers[i].Key || !sameBytes(header.Value, b.Headers[i].Value) {
			return false
		}
	}
	return true
}

func check(topic *topicState, read *kgo.Record) {
	place := fmt.Sprintf("%s-%d@%d", read.Topic, read.Partition, read.Offset)
	partition := &topic.partitions[read.Partition]
	if partition.isLost.Swap(false) && read.Offset < partition.next {
		partition.next = read.Offset
	}
	if read.Offset != partition.next {
		fail("%s came where %d was due", place, partition.next)
	}
	if read.Offset >= perPartition {
		fail("%s is one too many", place)
	}
	partition.next++
	expected := contentOf(topic, int(read.Partition), read.Offset)
	timestamp := read.Timestamp.UnixMilli()
	inTime := timestamp == expected.Timestamp.UnixMilli()
	if expected.Timestamp.IsZero() {
		inTime = timestamp >= base && timestamp <= time.Now().UnixMilli()
	}
	if !inTime || !sameContent(read, expected) {
		fail("%s is %+v instead of %+v", place, read, expected)
	}
	if read.Offset < partition.end {
		return
	}
	partition.end++
	records++
	topic.Records++
	topic.Timestamps += mixed(mixed(uint32(read.Partition)*1_000_003+uint32(read.Offset)) + uint32(timestamp&0x7fffffff))
}

// lose notes what franz-go gives up when its broker is away: it joins again and goes on from what it had committed.
func lose(byName map[string]*topicState) func(context.Context, *kgo.Client, map[string][]int32) {
	return func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
		for name, numbers := range lost {
			for _, number := range numbers {
				byName[name].partitions[number].isLost.Store(true)
			}
		}
	}
}

func consume() int64 {
	byName := map[string]*topicState{}
	names := []string{}
	for _, topic := range topics {
		byName[topic.name] = topic
		names = append(names, topic.name)
	}
	background := context.Background()
	for first := true; records < total; first = false {
		client := common(
			kgo.ConsumerGroup(values["group"]), kgo.ConsumeTopics(names...), kgo.AutoCommitInterval(200*time.Millisecond),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
			kgo.OnPartitionsLost(lose(byName)), kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelInfo, nil)))
		if first {
			ready()
		}
		for startedPast := isPastMarks(); records < total && isPastMarks() == startedPast; {
			waiting, cancel := context.WithTimeout(background, 200*time.Millisecond)
			fetches := client.PollRecords(waiting, readRecords)
			cancel()
			fetches.EachRecord(func(record *kgo.Record) { check(byName[record.Topic], record) })
			step(records)
		}
		if err := client.CommitUncommittedOffsets(background); err != nil {
			fail("%v", err)
		}
		client.Close()
	}
	return records
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == "github.com/twmb/franz-go" {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return "unknown"
}

func main() {
	readArguments()
	go readReleases()
	result := map[string]any{"version": version()}
	if values["mode"] == "produce" {
		result["records"] = produce()
	} else {
		result["records"] = consume()
		byName := map[string]*topicState{}
		for _, topic := range topics {
			byName[topic.name] = topic
		}
		result["topics"] = byName
	}
	line, err := json.Marshal(result)
	if err != nil {
		fail("%v", err)
	}
	fmt.Println(string(line))
}
