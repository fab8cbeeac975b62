import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.tools.consumer.group.ShareGroupCommand;

/**
 * A share group as Kafka's administrators see it, through the Admin client and through kafka-share-groups. ADDRESS SCENARIO;
 * the last line is what they saw, as JSON. Any step that does not happen within a minute is an error.
 */
public class ShareGroupAdmin {
  static final String TOPIC = "jobs";
  static final String GROUP = "workers";
  static String address;
  static Admin admin;

  static Properties common() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", address);
    return properties;
  }

  static void until(Callable<Boolean> condition, String what) throws Exception {
    long deadline = System.currentTimeMillis() + 60_000;
    while (!condition.call()) {
      if (System.currentTimeMillis() > deadline) throw new Exception("never: " + what);
      Thread.sleep(50);
    }
  }

  static ShareGroupDescription describe() throws Exception {
    return admin.describeShareGroups(List.of(GROUP)).describedGroups().get(GROUP).get();
  }

  /** `partition: start offset + lag` of each partition. */
  static String offsets() throws Exception {
    var found = admin.listShareGroupOffsets(Map.of(GROUP, new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo(GROUP).get();
    Map<Integer, String> lines = new TreeMap<>();
    found.forEach((partition, info) ->
        lines.put(partition.partition(), info == null ? "none" : info.startOffset() + "+" + info.lag().orElse(-1L)));
    return lines.toString();
  }

  static String failure(KafkaFuture<?> future) throws Exception {
    try {
      future.get();
      return "none";
    } catch (ExecutionException error) {
      return error.getCause().getClass().getSimpleName();
    }
  }

  /** Reads and accepts `count` records. */
  static void consume(int count, Callable<Void> while_) throws Exception {
    Properties properties = common();
    properties.put("group.id", GROUP);
    properties.put("client.id", "worker");
    try (var consumer = new KafkaShareConsumer<>(properties, new StringDeserializer(), new StringDeserializer())) {
      consumer.subscribe(List.of(TOPIC));
      int[] read = {0};
      until(() -> (read[0] += consumer.poll(Duration.ofMillis(200)).count()) >= count, count + " records are read");
      consumer.commitSync();
      while_.call();
    }
    until(() -> describe().groupState() == GroupState.EMPTY, "the group is empty");
  }

  /** What a command of kafka-share-groups prints, its words one space apart. */
  static String tool(String... arguments) {
    PrintStream out = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed));
    try {
      List<String> all = new ArrayList<>(List.of("--bootstrap-server", address));
      all.addAll(List.of(arguments));
      ShareGroupCommand.main(all.toArray(String[]::new));
    } finally {
      System.setOut(out);
    }
    return printed.toString().trim().replaceAll("[ \\t]+", " ").replaceAll("\\s*\\n\\s*", " | ");
  }

  public static void main(String[] args) throws Exception {
    address = args[0];
    Map<String, String> seen = new LinkedHashMap<>();
    admin = Admin.create(common());
    try (var producer = new KafkaProducer<>(common(), new StringSerializer(), new StringSerializer())) {
      admin.createTopics(List.of(new NewTopic(TOPIC, 2, (short) 1))).all().get();
      var earliest = new AlterConfigOp(new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET);
      admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.GROUP, GROUP), List.of(earliest))).all().get();
      for (int value = 0; value < 20; value++) producer.send(new ProducerRecord<>(TOPIC, value % 2, null, "" + value)).get();
    }
    consume(20, () -> {
      ShareGroupDescription description = describe();
      seen.put("state", description.groupState() + " " + description.members().size());
      seen.put("assigned", description.members().iterator().next().assignment().topicPartitions().size() + "");
      seen.put("alterWithMembers", failure(admin.alterShareGroupOffsets(GROUP, Map.of(new TopicPartition(TOPIC, 0), 3L)).all()));
      seen.put("deleteWithMembers", failure(admin.deleteShareGroups(List.of(GROUP)).all()));
      return null;
    });
    seen.put("read", offsets());
    admin.alterShareGroupOffsets(GROUP, Map.of(new TopicPartition(TOPIC, 0), 3L)).all().get();
    seen.put("altered", offsets());
    consume(7, () -> null);
    seen.put("readAgain", offsets());
    seen.put("toolList", tool("--list"));
    seen.put("toolReset", tool("--reset-offsets", "--group", GROUP, "--topic", TOPIC, "--to-earliest", "--execute"));
    seen.put("toolDescribe", tool("--describe", "--group", GROUP));
    seen.put("toolDeleteOffsets", tool("--delete-offsets", "--group", GROUP, "--topic", TOPIC));
    seen.put("deleted", offsets());
    admin.deleteShareGroups(List.of(GROUP)).all().get();
    seen.put("groups", admin.listGroups().all().get().size() + "");
    StringJoiner json = new StringJoiner(",", "{", "}");
    seen.forEach((name, value) -> json.add('"' + name + "\":\"" + value + '"'));
    System.out.println(json);
    admin.close();
  }
}
