"""Queues as librdkafka's share consumer uses them. ADDRESS: implicit and explicit acknowledgement, two consumers on one
partition; the last line is what was found, as JSON. Any step that does not happen within a minute is an error.
"""
import json
import sys
import threading
import time

from confluent_kafka import Producer, ShareConsumer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)
from confluent_kafka.cimpl import (
    SHARE_ACKNOWLEDGE_TYPE_ACCEPT as ACCEPT,
    SHARE_ACKNOWLEDGE_TYPE_REJECT as REJECT,
    SHARE_ACKNOWLEDGE_TYPE_RELEASE as RELEASE,
)

address = sys.argv[1]
common = {"bootstrap.servers": address, "log_level": 0}
admin = AdminClient(common)
producer = Producer({**common, "enable.idempotence": True})
DEADLINE_S = 60


def prepare(name, records):
    """A topic of one partition with records, and a group of the same name that reads it from its beginning."""
    for future in admin.create_topics([NewTopic(name, 1, 1)]).values():
        future.result()
    earliest = ConfigEntry("share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET)
    group = ConfigResource(ResourceType.GROUP, name, incremental_configs=[earliest])
    for future in admin.incremental_alter_configs([group]).values():
        future.result()
    for value in range(records):
        producer.produce(name, value=str(value))
    if producer.flush(30) > 0:
        raise Exception("not everything was stored")
    return name


def reader(name, mode):
    consumer = ShareConsumer({**common, "group.id": name, "share.acknowledgement.mode": mode})
    consumer.subscribe([name])
    return consumer


def take(consumer, timeout=0.5):
    messages = list(consumer.poll(timeout))
    for message in messages:
        if message.error():
            raise Exception(str(message.error()))
    return messages


def until(condition, what):
    deadline = time.time() + DEADLINE_S
    while not condition():
        if time.time() > deadline:
            raise Exception("never: " + what)


def implicit():
    consumer = reader(prepare("librdkafka-implicit", 100), "implicit")
    seen = []
    until(lambda: seen.extend(take(consumer)) or len(seen) >= 100, "100 are read")
    consumer.close()
    return len(seen)


def explicit():
    """A third accepted, a third released and then accepted, a third rejected."""
    consumer = reader(prepare("librdkafka-explicit", 30), "explicit")
    counts = {"accepted": 0, "released": 0, "rejected": 0}
    seen = {}

    def work():
        for message in take(consumer):
            offset = message.offset()
            seen[offset] = seen.get(offset, 0) + 1
            kind = ("accepted", "released", "rejected")[offset % 3] if seen[offset] == 1 else "again"
            if kind in counts:
                counts[kind] += 1
            consumer.acknowledge(message, {"released": RELEASE, "rejected": REJECT}.get(kind, ACCEPT))
        for error in consumer.commit_sync(30).values():
            if error:
                raise error
        return len(seen) == 30 and all(count == 2 for offset, count in seen.items() if offset % 3 == 1)

    until(work, "all are read, and a third twice")
    consumer.close()
    again = sorted({count for offset, count in seen.items() if offset % 3 == 1})
    return {**counts, "again": again}


def shared():
    """Two consumers on one partition, from before its first record."""
    name = prepare("librdkafka-shared", 0)
    seen = [[], []]
    done = threading.Event()
    errors = []

    def work(index):
        try:
            consumer = reader(name, "implicit")
            while not done.is_set():
                seen[index].extend(message.offset() for message in take(consumer, 0.1))
            consumer.close()
        except Exception as error:
            errors.append(error)
            done.set()

    threads = [threading.Thread(target=work, args=[index]) for index in range(2)]
    for thread in threads:
        thread.start()
    value = 0
    deadline = time.time() + DEADLINE_S
    while sum(map(len, seen)) < 1000 and not errors and time.time() < deadline:
        # A few at a time, so that neither gets all.
        if value < 1000:
            for value in range(value, value + 20):
                producer.produce(name, value=str(value))
            value += 1
            producer.flush(30)
        time.sleep(0.02)
    done.set()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    offsets = seen[0] + seen[1]
    return {"all": len(offsets), "distinct": len(set(offsets)), "each": bool(seen[0] and seen[1])}


print(json.dumps({"implicit": implicit(), "counts": explicit(), "shared": shared()}))
