"""The traffic program of librdkafka through confluent-kafka; arguments.ts says what it is told and what it says."""
import json
import sys
import threading
import time

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer

BLOCK_RECORDS = 1000
STEP_RECORDS = 100
READ_RECORDS = 500
SLOW_SHARE = 0.2
SLOW_STEP = 0.05
REPORTS = 20
MASK = 0xFFFFFFFF
NULL_HEADER = [("null", None)]
BLOCK_HEADERS = [
    None,
    [("plain", b"value")],
    [("empty", b"")],
    NULL_HEADER,
    [("twice", b"1"), ("twice", "é漢".encode())],
]
PADDING = ["abcdefgh-" * times for times in range(16)]

values = dict(argument.split("=", 1) for argument in sys.argv[1:])
base = int(values["base"])
partitions = int(values["partitions"])
per_partition = int(values["records"])
topics = dict(topic.split(":") for topic in values["topics"].split(","))
marks = [float(mark) for mark in values["marks"].split(",") if mark]
total = len(topics) * partitions * per_partition


def seed_of(topic):
    seed = 0x811C9DC5
    for byte in topic.encode():
        seed = ((seed ^ byte) * 0x01000193) & MASK
    return seed


def mixed(x):
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & MASK
    x = ((x ^ (x >> 15)) * 0x846CA68B) & MASK
    return x ^ (x >> 16)


seeds = {topic: seed_of(topic) for topic in topics}


def content_of(topic, partition, sequence):
    """Key, value, headers and timestamp (None where the producer's clock gives it)."""
    x = mixed((seeds[topic] + partition * 0x85EBCA77 + sequence * 0xC2B2AE3D) & MASK)
    block = sequence // BLOCK_RECORDS
    nothing = None if block % 2 == 0 else b""
    key = nothing if x & 3 == 0 else b"key-%d" % (x % 1000)
    value = nothing
    if (x >> 8) & 7:
        value = f"{topic}/{partition}/{sequence}/é漢🐟/{PADDING[(x >> 12) & 15]}".encode() + b"\xff\xfe"
    timestamp = None if topic.startswith("clock.") else base + sequence * 3 + x % 2000
    headers = BLOCK_HEADERS[block % len(BLOCK_HEADERS)]
    if headers == NULL_HEADER and topic.startswith("nonull."):
        headers = [("null", b"")]
    return key, value, headers, timestamp


class Pace:
    def __init__(self):
        self.reported = self.reached = self.releases = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for _ in sys.stdin:
            self.releases += 1

    def held(self):
        return self.releases <= self.reached

    def past_marks(self):
        return self.reached == len(marks) and not self.held()

    def ready(self):
        print("ready", flush=True)
        while self.held():
            time.sleep(0.005)

    def step(self, done, meanwhile=lambda: None):
        if done * REPORTS >= (self.reported + 1) * total:
            self.reported = done * REPORTS // total
            print(f"at {done}", flush=True)
        if not self.held() and self.reached < len(marks) and done >= marks[self.reached] * total:
            print(f"mark {done}", flush=True)
            self.reached += 1
        while self.held():
            time.sleep(SLOW_STEP)
            meanwhile()
            if done < (marks[self.reached - 1] + SLOW_SHARE) * total:
                return


pace = Pace()
common = {"bootstrap.servers": values["address"], "client.id": values["client"], "log_level": 0, "reconnect.backoff.max.ms": 500}


def fail(message):
    print(message, file=sys.stderr, flush=True)
    sys.exit(1)


def produce():
    wrong = []
    acknowledged = dict.fromkeys([(topic, partition) for topic in topics for partition in range(partitions)], 0)

    def delivered(error, message):
        place = (message.topic(), message.partition())
        if error or message.offset() != acknowledged[place]:
            wrong.append(f"{place}: {error or message.offset()} instead of offset {acknowledged[place]}")
        acknowledged[place] += 1

    conf = {**common, "enable.idempotence": True, "acks": "all", "linger.ms": 20, "on_delivery": delivered}
    producers = {topic: Producer({**conf, "compression.type": codec}) for topic, codec in topics.items()}

    def poll():
        for producer in producers.values():
            producer.poll(0)
        if wrong:
            fail(wrong[0])

    pace.ready()
    sent = 0
    for sequence in range(per_partition):
        for topic, producer in producers.items():
            for partition in range(partitions):
                key, value, headers, timestamp = content_of(topic, partition, sequence)
                while True:
                    try:
                        producer.produce(topic, value, key, partition, timestamp=timestamp, headers=headers)
                        break
                    except BufferError:
                        poll()
                        time.sleep(0.01)
                sent += 1
                if sent % STEP_RECORDS == 0:
                    poll()
                    pace.step(sent, poll)
    for producer in producers.values():
        if producer.flush(60) != 0:
            fail("records were not acknowledged")
    poll()
    if sum(acknowledged.values()) != total:
        fail(f"{sum(acknowledged.values())} of {total} records were acknowledged")
    return {"records": sent}


read = {topic: {"records": 0, "timestamps": 0} for topic in topics}
due = {(topic, partition): 0 for topic in topics for partition in range(partitions)}


def check(message):
    if message.error():
        fail(f"an error was read: {message.error()}")
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    place = f"{topic}-{partition}@{offset}"
    if offset != due[topic, partition]:
        fail(f"{place} came where {due[topic, partition]} was due")
    if offset >= per_partition:
        fail(f"{place} is one too many")
    due[topic, partition] = offset + 1
    key, value, headers, timestamp = content_of(topic, partition, offset)
    stamped = message.timestamp()[1]
    found = (message.key(), message.value(), message.headers() or None)
    in_time = stamped == timestamp if timestamp else base <= stamped <= time.time() * 1000
    if found != (key, value, headers) or not in_time:
        fail(f"{place} is {found}, {stamped} instead of {(key, value, headers)}, {timestamp}")
    state = read[topic]
    state["records"] += 1
    state["timestamps"] = (state["timestamps"] + mixed(mixed(partition * 1000003 + offset) + (stamped & 0x7FFFFFFF) & MASK)) & MASK


def commit(consumer):
    """Closing commits too, but says nothing of a commit that failed because the broker has just been away."""
    deadline = time.time() + 60
    while True:
        try:
            consumer.commit(asynchronous=False)
            return
        except KafkaException as error:
            if error.args[0].code() == KafkaError._NO_OFFSET:
                return
            if time.time() > deadline:
                fail(f"offsets cannot be committed: {error}")
            time.sleep(0.2)


def consume():
    conf = {
        **common,
        "group.id": values["group"],
        "group.protocol": values["protocol"],
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 200,
        "queued.min.messages": 1000,
    }
    records = 0
    first = True
    while records < total:
        consumer = Consumer(conf)
        consumer.subscribe(list(topics))
        if first:
            pace.ready()
        first = False
        started_past = pace.past_marks()
        while records < total and pace.past_marks() == started_past:
            messages = consumer.consume(READ_RECORDS, 0.2)
            for message in messages:
                check(message)
            records += len(messages)
            pace.step(records)
        commit(consumer)
        consumer.close()
    return {"records": records, "topics": read}


result = produce() if values["mode"] == "produce" else consume()
print(json.dumps({"version": f"{confluent_kafka.version()} ({confluent_kafka.libversion()[0]})", **result}), flush=True)
