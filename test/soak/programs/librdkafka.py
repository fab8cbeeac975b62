"""The soak's client program of librdkafka through confluent-kafka (arguments.ts says how it is called)."""
import os
import random
import signal
import sys
import time

from confluent_kafka import Consumer, KafkaException, Producer

BURST_RECORDS = 40
PADDING = 300
AHEAD_MS = 7_200_000
MOST_OUTSTANDING = 2000
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]
LANES = CODECS + ["plain", "refused"]

given = dict(argument.split("=", 1) for argument in sys.argv[1:])
name = given["name"]
topics = [(topic.split(":")[0], int(topic.split(":")[1])) for topic in given["topics"].split(",")]
journal = os.open(given["journal"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
common = {"bootstrap.servers": given["address"], "client.id": name, "log_level": 4, "reconnect.backoff.max.ms": 1000}
if given["debug"]:
    common.update({"debug": given["debug"], "log_level": 7})
stopping = False


def stop(*_):
    global stopping
    stopping = True


def now():
    return time.time_ns() // 1_000_000


def write(letter, *fields):
    os.write(journal, (" ".join([letter, str(now()), *map(str, fields)]) + "\n").encode())


class Lane:
    def __init__(self, lane):
        self.lane, self.name, self.next, self.outstanding = lane, f"{name}.{lane}", {}, 0
        self.codec = lane if lane in CODECS else "none"
        self.producer = None

    def connect(self):
        self.producer = Producer(
            {
                **common,
                "compression.type": self.codec,
                "enable.idempotence": self.lane in CODECS,
                "acks": "all",
                "linger.ms": 5,
                "message.timeout.ms": 180_000,
            }
        )

    def answered(self, topic, partition, number, sent):
        def answer(error, message):
            self.outstanding -= 1
            if self.lane == "refused":
                write("R", self.name, topic, partition, number, error.name() if error else "accepted")
            elif error:
                write("F", self.name, topic, partition, number, error.name())
                # After a fatal error this producer answers nothing else; its successor has a fresh producer id.
                if error.fatal():
                    self.producer = None
            else:
                write("A", self.name, topic, partition, number, message.offset(), sent)

        return answer

    def burst(self, generator):
        if self.producer is None:
            self.connect()
        producer = self.producer
        producer.poll(0)
        if self.outstanding > MOST_OUTSTANDING:
            return
        topic, partitions = generator.choice(topics)
        partition = generator.randrange(partitions)
        first = self.next.get((topic, partition), 0)
        count = 1 if self.lane == "refused" else generator.randint(1, BURST_RECORDS)
        self.next[(topic, partition)] = first + count
        for number in range(first, first + count):
            sent = now()
            value = f"{self.name}|{topic}|{partition}|{number}|{'x' * generator.randint(0, PADDING)}"
            write("S", self.name, topic, partition, number)
            self.outstanding += 1
            answer = self.answered(topic, partition, number, sent)
            try:
                producer.produce(
                    topic,
                    value=value,
                    partition=partition,
                    timestamp=sent + (AHEAD_MS if self.lane == "refused" else 0),
                    on_delivery=answer,
                )
            except KafkaException as error:
                # While it knows that the topic is deleted.
                answer(error.args[0], None)


def produce():
    generator = random.Random(int(given["seed"]))
    lanes = [Lane(lane) for lane in LANES]
    pause = (BURST_RECORDS / 2) / float(given["rate"])
    while not stopping:
        for lane in lanes:
            lane.burst(generator)
            end = time.time() + pause * 2 * generator.random()
            while not stopping and time.time() < end:
                lane.producer and lane.producer.poll(0.01)
    deadline = time.time() + 90
    while any(lane.outstanding for lane in lanes) and time.time() < deadline:
        for lane in lanes:
            lane.producer and lane.producer.poll(0.02)


def consume():
    consumer = Consumer(
        {
            **common,
            "group.id": f"soak-{name.split('.')[0]}",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "session.timeout.ms": 6000,
            "heartbeat.interval.ms": 500,
            "max.poll.interval.ms": 30_000,
            "partition.assignment.strategy": "cooperative-sticky",
            "topic.metadata.refresh.interval.ms": 2000,
            "fetch.wait.max.ms": 200,
            "check.crcs": True,
        }
    )

    def assign(_, partitions):
        for each in partitions:
            write("+", name, each.topic, each.partition)

    def revoke(_, partitions):
        for each in partitions:
            write("-", name, each.topic, each.partition)

    write("M", name)
    consumer.subscribe([topic for topic, _ in topics], on_assign=assign, on_revoke=revoke, on_lost=revoke)
    uncommitted, committed_at = {}, time.time()
    while not stopping:
        # One at a time, so that the lines of records and assignments are in the order that they came in.
        message = consumer.poll(0.1)
        if message is not None and message.error():
            write("E", name, message.error().name())
        elif message is not None:
            producer, _, _, number, _ = message.value().decode().split("|")
            write("C", name, message.topic(), message.partition(), message.offset(), producer, number)
            uncommitted[(message.topic(), message.partition())] = message.offset() + 1
        if uncommitted and time.time() > committed_at + 0.3:
            commit(consumer)
            uncommitted, committed_at = {}, time.time()
    consumer.close()


def commit(consumer):
    try:
        for each in consumer.commit(asynchronous=False):
            if each.error is None:
                write("K", name, each.topic, each.partition, each.offset)
    except KafkaException as error:
        write("E", name, error.args[0].name())


signal.signal(signal.SIGTERM, stop)
produce() if given["mode"] == "produce" else consume()
