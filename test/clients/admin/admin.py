"""The admin scenario (admin-scenario.ts) with librdkafka through confluent-kafka. ADDRESS TOPIC GROUP BASE RECORDS; the last
line is what it saw, as JSON.
"""
import json
import sys
import time

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaException, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)

address, topic, group = sys.argv[1:4]
base, records = int(sys.argv[4]), int(sys.argv[5])
common = {"bootstrap.servers": address, "client.id": topic, "log_level": 0}
admin = AdminClient(common)
seen = {}


def only(futures):
    return next(iter(futures.values())).result(30)


def error_of(call):
    try:
        call()
        return "none"
    except KafkaException as error:
        return error.args[0].name().lstrip("_")


def create(name, config):
    only(admin.create_topics([NewTopic(name, 3, 1, config=config)]))


def describe():
    return only(admin.describe_topics(TopicCollection([topic])))


def retention():
    return only(admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]))["retention.ms"].value


def alter(operation, value=None):
    entry = ConfigEntry("retention.ms", value, incremental_operation=operation)
    only(admin.incremental_alter_configs([ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])]))


def offsets(spec):
    found = admin.list_offsets({TopicPartition(topic, partition): spec for partition in range(4)})
    return [future.result(30).offset for _, future in sorted(found.items(), key=lambda each: each[0].partition)]


def committed():
    found = only(admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])).topic_partitions
    return [each.offset for each in sorted(found, key=lambda each: each.partition)]


def delete_records(partition, offset):
    only(admin.delete_records([TopicPartition(topic, partition, offset)]))


create(topic, {"retention.ms": "3600000"})
seen["createdAgain"] = error_of(lambda: create(topic, {}))
seen["unknownConfig"] = error_of(lambda: create("bad", {"retention.mss": "1"}))
seen["listed"] = topic in admin.list_topics(timeout=30).topics
described = describe()
seen["partitions"] = len(described.partitions)
seen["leader"] = described.partitions[0].leader.id
only(admin.create_partitions([NewPartitions(topic, 4)]))
seen["grown"] = len(describe().partitions)
seen["fewer"] = error_of(lambda: only(admin.create_partitions([NewPartitions(topic, 2)])))
retentions = [retention()]
alter(AlterConfigOpType.SET, "7200000")
retentions.append(retention())
alter(AlterConfigOpType.DELETE)
seen["retentions"] = [*retentions, retention()]
seen["badConfig"] = error_of(lambda: alter(AlterConfigOpType.SET, "abc"))

producer = Producer(common)
for partition in range(4):
    for index in range(records):
        producer.produce(topic, str(index), partition=partition, timestamp=base + index * 1000)
if producer.flush(30) != 0:
    sys.exit("records were not acknowledged")
seen["earliest"] = offsets(OffsetSpec.earliest())
seen["latest"] = offsets(OffsetSpec.latest())
seen["at"] = offsets(OffsetSpec.for_timestamp(base + 5000))

consumer = Consumer({**common, "group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False})
consumer.subscribe([topic])
read, deadline = 0, time.time() + 60
while read < 4 * records and time.time() < deadline:
    read += len(consumer.consume(100, 0.2))
consumer.commit(asynchronous=False)
described = only(admin.describe_consumer_groups([group]))
seen["state"] = described.state.name.capitalize()
seen["members"] = len(described.members)
seen["nonEmpty"] = error_of(lambda: only(admin.delete_consumer_groups([group])))
consumer.close()
seen["committed"] = committed()
altered = ConsumerGroupTopicPartitions(group, [TopicPartition(topic, 0, 0), TopicPartition(topic, 1, 5)])
only(admin.alter_consumer_group_offsets([altered]))
seen["reset"] = committed()
seen["groupListed"] = group in [each.group_id for each in admin.list_consumer_groups().result(30).valid]
only(admin.delete_consumer_groups([group]))
seen["groupGone"] = error_of(lambda: only(admin.delete_consumer_groups([group])))

delete_records(0, 4)
delete_records(1, -1)
seen["lowWatermarks"] = offsets(OffsetSpec.earliest())
seen["beyond"] = error_of(lambda: delete_records(2, 99))
cluster = admin.describe_cluster().result(30)
seen["clusterId"] = cluster.cluster_id
seen["controller"] = cluster.controller.id
seen["brokers"] = [f"{node.id}@{node.host}:{node.port}" for node in cluster.nodes]
everything = AclBindingFilter(
    ResourceType.ANY, None, ResourcePatternType.ANY, None, None, AclOperation.ANY, AclPermissionType.ANY
)
seen["acls"] = error_of(lambda: admin.describe_acls(everything).result(30))
only(admin.delete_topics([topic]))
seen["unknownTopic"] = error_of(lambda: only(admin.delete_topics([topic])))
print(json.dumps(seen))
