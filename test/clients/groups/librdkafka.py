"""Groups as librdkafka uses them. ADDRESS PROTOCOL (classic or consumer): members share, come, go, live through a broker
that is killed, and a static member gets its place back. Prints `kill` and waits for a line when the broker is to be killed
and started again; its last line is what was read, as JSON. Any step that does not happen within a minute is an error.
"""
import json
import sys
import threading
import time
import uuid

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer
from confluent_kafka.admin import AdminClient, NewTopic

PARTITIONS = 4
address, protocol = sys.argv[1], sys.argv[2]
topic = f"librdkafka-{protocol}-{uuid.uuid4().hex[:8]}"
group = f"group-{topic}"
common = {"bootstrap.servers": address, "log_level": 0}
admin = AdminClient(common)
producer = Producer({**common, "enable.idempotence": True})


class Reader(threading.Thread):
    def __init__(self, name, instance=None):
        super().__init__()
        self.values, self.errors, self.owned, self.stopping = [], [], set(), False
        conf = {
            **common,
            "client.id": name,
            "group.id": group,
            "group.protocol": protocol,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 200,
        }
        if protocol == "classic":
            conf.update({"session.timeout.ms": 20000, "heartbeat.interval.ms": 300})
            conf["partition.assignment.strategy"] = "cooperative-sticky"
        if instance:
            conf["group.instance.id"] = instance
        self.consumer = Consumer(conf)
        self.consumer.subscribe([topic], on_assign=self.assign, on_revoke=self.revoke, on_lost=self.lose)
        self.start()

    def assign(self, consumer, partitions):
        consumer.incremental_assign(partitions)
        self.owned = self.owned | {p.partition for p in partitions}

    def revoke(self, consumer, partitions):
        consumer.incremental_unassign(partitions)
        self.owned = self.owned - {p.partition for p in partitions}

    def lose(self, consumer, partitions):
        self.errors.append("lost its partitions")
        self.revoke(consumer, partitions)

    def run(self):
        while not self.stopping:
            message = self.consumer.poll(0.05)
            if message is None:
                continue
            if message.error():
                self.errors.append(str(message.error()))
            else:
                self.values.append(int(message.value()))
        self.consumer.close()

    def stop(self):
        self.stopping = True
        self.join()


def until(condition, what):
    deadline = time.time() + 60
    while not condition():
        if time.time() > deadline:
            raise TimeoutError(f"never: {what}")
        time.sleep(0.05)


def send(first, end):
    for value in range(first, end):
        producer.produce(topic, value=str(value), partition=value % PARTITIONS)
    if producer.flush(60) != 0:
        raise TimeoutError("records were not acknowledged")


def share(*readers):
    owned = sorted(partition for reader in readers for partition in reader.owned)
    return owned == list(range(PARTITIONS)) and all(len(reader.owned) > 0 for reader in readers)


def read_by(*readers):
    return [value for reader in readers for value in reader.values]


admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result()
a, b = Reader("a"), Reader("b")
until(lambda: share(a, b), "two members share")
send(0, 100)
until(lambda: len(read_by(a, b)) >= 100, "100 are read")
b.stop()
until(lambda: share(a), "the other takes over")

# What is read is committed before the broker dies, so that nothing may be read again.
time.sleep(0.6)
print("kill", flush=True)
sys.stdin.readline()
send(100, 200)
until(lambda: len(read_by(a, b)) >= 200, "200 are read, through a restart")

c = Reader("c", "static")
until(lambda: share(a, c), "a static member shares")
before = c.owned
c.stop()
d = Reader("d", "static")
until(lambda: d.owned == before, "its successor has the same partitions")
send(200, 300)
until(lambda: len(set(read_by(a, b, c, d))) >= 300, "300 are read")
described = admin.describe_consumer_groups([group])[group].result()
a.stop()
d.stop()
committed = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group].result()
# A static member's leaving does not remove it; the group is deleted once its session has ended or it has been removed.
values = read_by(a, b, c, d)
print(
    json.dumps(
        {
            "values": len(values),
            "distinct": len(set(values)),
            "errors": a.errors + b.errors + c.errors + d.errors,
            "state": described.state.name,
            "type": described.type.name,
            "members": len(described.members),
            "committed": sorted(offset.offset for offset in committed.topic_partitions),
        }
    ),
    flush=True,
)
