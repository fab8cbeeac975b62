import java.time.Duration;
import java.util.*;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.*;

/**
 * The admin scenario (admin-scenario.ts) with Kafka's Java clients. ADDRESS TOPIC GROUP BASE RECORDS; the last line is what it
 * saw, as JSON.
 */
public class AdminScenario {
  static Admin admin;
  static String topic;
  static String group;

  interface Call {
    void run() throws Exception;
  }

  static String errorOf(Call call) throws Exception {
    try {
      call.run();
      return "none";
    } catch (ExecutionException error) {
      return Errors.forException(error.getCause()).name();
    }
  }

  static void create(String name, Map<String, String> configs) throws Exception {
    admin.createTopics(List.of(new NewTopic(name, 3, (short) 1).configs(configs))).all().get();
  }

  static List<TopicPartitionInfo> partitions() throws Exception {
    return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions();
  }

  static void grow(int count) throws Exception {
    admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(count))).all().get();
  }

  static ConfigResource resource() {
    return new ConfigResource(ConfigResource.Type.TOPIC, topic);
  }

  static String retention() throws Exception {
    return admin.describeConfigs(List.of(resource())).all().get().get(resource()).get("retention.ms").value();
  }

  static void alter(AlterConfigOp.OpType operation, String value) throws Exception {
    var change = new AlterConfigOp(new ConfigEntry("retention.ms", value), operation);
    admin.incrementalAlterConfigs(Map.of(resource(), List.of(change))).all().get();
  }

  static TopicPartition partition(int number) {
    return new TopicPartition(topic, number);
  }

  static List<Long> offsets(OffsetSpec spec) throws Exception {
    var asked = IntStream.range(0, 4).boxed().collect(Collectors.toMap(AdminScenario::partition, number -> spec));
    var found = admin.listOffsets(asked).all().get();
    return IntStream.range(0, 4).mapToObj(number -> found.get(partition(number)).offset()).toList();
  }

  static List<Long> committed() throws Exception {
    var found = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get();
    return IntStream.range(0, 4).mapToObj(number -> found.get(partition(number)).offset()).toList();
  }

  static void deleteRecords(int number, long offset) throws Exception {
    admin.deleteRecords(Map.of(partition(number), RecordsToDelete.beforeOffset(offset))).all().get();
  }

  static void deleteGroup() throws Exception {
    admin.deleteConsumerGroups(List.of(group)).all().get();
  }

  static String json(Object value) {
    if (value instanceof Map<?, ?> map) return map.entrySet().stream().map(each -> json(each.getKey()) + ":" + json(each.getValue())).collect(Collectors.joining(",", "{", "}"));
    if (value instanceof List<?> list) return list.stream().map(AdminScenario::json).collect(Collectors.joining(",", "[", "]"));
    return value instanceof String text ? "\"" + text + "\"" : String.valueOf(value);
  }

  public static void main(String[] arguments) throws Exception {
    Properties common = new Properties();
    common.put("bootstrap.servers", arguments[0]);
    topic = arguments[1];
    common.put("client.id", topic);
    group = arguments[2];
    long base = Long.parseLong(arguments[3]);
    int records = Integer.parseInt(arguments[4]);
    admin = Admin.create(common);
    Map<String, Object> seen = new LinkedHashMap<>();

    create(topic, Map.of("retention.ms", "3600000"));
    seen.put("createdAgain", errorOf(() -> create(topic, Map.of())));
    seen.put("unknownConfig", errorOf(() -> create("bad", Map.of("retention.mss", "1"))));
    seen.put("listed", admin.listTopics().names().get().contains(topic));
    seen.put("partitions", partitions().size());
    seen.put("leader", partitions().get(0).leader().id());
    grow(4);
    seen.put("grown", partitions().size());
    seen.put("fewer", errorOf(() -> grow(2)));
    List<String> retentions = new ArrayList<>(List.of(retention()));
    alter(AlterConfigOp.OpType.SET, "7200000");
    retentions.add(retention());
    alter(AlterConfigOp.OpType.DELETE, null);
    retentions.add(retention());
    seen.put("retentions", retentions);
    seen.put("badConfig", errorOf(() -> alter(AlterConfigOp.OpType.SET, "abc")));

    try (var producer = new KafkaProducer<>(common, new StringSerializer(), new StringSerializer())) {
      for (int number = 0; number < 4; number++)
        for (int i = 0; i < records; i++) producer.send(new ProducerRecord<>(topic, number, base + i * 1000L, null, "" + i));
    }
    seen.put("earliest", offsets(OffsetSpec.earliest()));
    seen.put("latest", offsets(OffsetSpec.latest()));
    seen.put("at", offsets(OffsetSpec.forTimestamp(base + 5000)));
    seen.put("maxTimestamp", offsets(OffsetSpec.maxTimestamp()));

    Properties reading = new Properties();
    reading.putAll(common);
    reading.putAll(Map.of("group.id", group, "auto.offset.reset", "earliest", "enable.auto.commit", "false"));
    try (var consumer = new KafkaConsumer<>(reading, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(List.of(topic));
      long deadline = System.currentTimeMillis() + 60_000;
      for (int read = 0; read < 4 * records && System.currentTimeMillis() < deadline; ) read += consumer.poll(Duration.ofMillis(200)).count();
      consumer.commitSync();
      var described = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
      seen.put("state", described.groupState().toString());
      seen.put("members", described.members().size());
      seen.put("nonEmpty", errorOf(AdminScenario::deleteGroup));
    }
    seen.put("committed", committed());
    var altered = Map.of(partition(0), new OffsetAndMetadata(0), partition(1), new OffsetAndMetadata(5));
    admin.alterConsumerGroupOffsets(group, altered).all().get();
    seen.put("reset", committed());
    seen.put("groupListed", admin.listGroups().all().get().stream().anyMatch(each -> each.groupId().equals(group)));
    deleteGroup();
    seen.put("groupGone", errorOf(AdminScenario::deleteGroup));

    var producers = admin.describeProducers(List.of(partition(0))).all().get().get(partition(0)).activeProducers();
    seen.put("producers", producers.stream().map(each -> each.lastSequence()).toList());
    deleteRecords(0, 4);
    deleteRecords(1, -1);
    seen.put("lowWatermarks", offsets(OffsetSpec.earliest()));
    seen.put("beyond", errorOf(() -> deleteRecords(2, 99)));
    var cluster = admin.describeCluster();
    seen.put("clusterId", cluster.clusterId().get());
    seen.put("controller", cluster.controller().get().id());
    seen.put("brokers", cluster.nodes().get().stream().map(node -> node.id() + "@" + node.host() + ":" + node.port()).toList());
    seen.put("acls", errorOf(() -> admin.describeAcls(AclBindingFilter.ANY).values().get()));
    seen.put("reassignments", admin.listPartitionReassignments().reassignments().get().size());
    var replicas = admin.describeLogDirs(List.of(0)).allDescriptions().get().get(0).values().iterator().next().replicaInfos();
    seen.put("sized", replicas.get(partition(2)).size() > 0);
    admin.deleteTopics(List.of(topic)).all().get();
    seen.put("unknownTopic", errorOf(() -> admin.deleteTopics(List.of(topic)).all().get()));
    System.out.println(json(seen));
    admin.close();
  }
}
