import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.*;
import org.apache.kafka.tools.consumer.group.ShareGroupCommand;

/**
 * Queues as Kafka's Java share consumer uses them. ADDRESS SCENARIO, which may be `all`: each with a topic and a group of its
 * own, side by side; the last line is what each found, as JSON. ADDRESS hold NAME: takes records of the group and topic of
 * that name, and holds them until it is killed. A step that does not happen within a minute is an error.
 */
public class Shares {
  static String address;
  static Admin admin;
  static Producer<String, String> producer;

  static Properties common() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", address);
    return properties;
  }

  /** A share consumer that counts and remembers what it is given. */
  static class Reader implements AutoCloseable {
    final KafkaShareConsumer<String, String> consumer;
    final List<ConsumerRecord<String, String>> records = Collections.synchronizedList(new ArrayList<>());
    final boolean implicit;
    int largestPoll = 0;

    Reader(String name, String... settings) {
      Properties properties = common();
      properties.put("group.id", name);
      for (int i = 0; i < settings.length; i += 2) properties.put(settings[i], settings[i + 1]);
      implicit = !List.of(settings).contains("explicit");
      consumer = new KafkaShareConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
      consumer.subscribe(List.of(name));
    }

    List<ConsumerRecord<String, String>> poll(int ms) {
      List<ConsumerRecord<String, String>> polled = new ArrayList<>();
      consumer.poll(Duration.ofMillis(ms)).forEach(polled::add);
      largestPoll = Math.max(largestPoll, polled.size());
      records.addAll(polled);
      return polled;
    }

    /** What comes next, however long it takes. */
    List<ConsumerRecord<String, String>> next() throws Exception {
      long deadline = System.currentTimeMillis() + 60_000;
      for (;;) {
        List<ConsumerRecord<String, String>> polled = poll(500);
        if (!polled.isEmpty()) return polled;
        if (System.currentTimeMillis() > deadline) throw new Exception("no record came for a minute");
      }
    }

    /** Acknowledges all of them and tells how many partitions answered without an error. */
    void finish(List<ConsumerRecord<String, String>> held, AcknowledgeType type) throws Exception {
      for (var record : held) consumer.acknowledge(record, type);
      check(commit() == null, "the acknowledgement succeeds");
    }

    /** The error of the only partition; null when there was none. */
    String commit() {
      for (var answer : consumer.commitSync().values()) if (answer.isPresent()) return answer.get().getClass().getSimpleName();
      return null;
    }

    /** Closing acknowledges nothing by itself: what the last poll returned would come back. */
    public void close() {
      if (implicit) consumer.commitSync();
      consumer.close();
    }
  }

  static void check(boolean condition, String what) throws Exception {
    if (!condition) throw new Exception("not so: " + what);
  }

  static int counted(ConsumerRecord<?, ?> record) {
    return record.deliveryCount().get();
  }

  static void configure(ConfigResource.Type type, String name, String... configs) throws Exception {
    List<AlterConfigOp> operations = new ArrayList<>();
    for (int i = 0; i < configs.length; i += 2) operations.add(new AlterConfigOp(new ConfigEntry(configs[i], configs[i + 1]), AlterConfigOp.OpType.SET));
    admin.incrementalAlterConfigs(Map.of(new ConfigResource(type, name), operations)).all().get();
  }

  /** A topic of one partition and a group of the same name that reads it from its beginning. */
  static String prepare(String scenario, String... configs) throws Exception {
    String name = "share-" + scenario;
    admin.createTopics(List.of(new NewTopic(name, 1, (short) 1))).all().get();
    configure(ConfigResource.Type.GROUP, name, "share.auto.offset.reset", "earliest");
    if (configs.length > 0) configure(ConfigResource.Type.GROUP, name, configs);
    return name;
  }

  static void send(Producer<String, String> through, String topic, int first, int end) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (int i = first; i < end; i++) sent.add(through.send(new ProducerRecord<>(topic, "k" + i, "v" + i)));
    through.flush();
    for (var each : sent) each.get();
  }

  /** Acknowledged by the next poll or a commit: nobody gets them again. */
  static Map<String, Object> implicit() throws Exception {
    String name = prepare("implicit");
    send(producer, name, 0, 100);
    Reader first = new Reader(name);
    while (first.records.size() < 100) first.next();
    first.close();
    send(producer, name, 100, 101);
    try (Reader second = new Reader(name)) {
      return Map.of("first", first.records.size(), "second", values(second.next()));
    }
  }

  static List<String> values(List<ConsumerRecord<String, String>> records) {
    return records.stream().map(ConsumerRecord::value).collect(Collectors.toList());
  }

  /** One third accepted, one third released, one third rejected. */
  static Map<String, Object> explicit() throws Exception {
    String name = prepare("explicit");
    send(producer, name, 0, 30);
    try (Reader reader = new Reader(name, "share.acknowledgement.mode", "explicit")) {
      int rejected = 0;
      Set<Integer> again = new TreeSet<>();
      while (again.size() < 10) {
        for (var record : reader.next()) {
          AcknowledgeType type = counted(record) > 1 || record.offset() % 3 == 0 ? AcknowledgeType.ACCEPT
            : record.offset() % 3 == 1 ? AcknowledgeType.RELEASE : AcknowledgeType.REJECT;
          if (counted(record) == 2) again.add((int) record.offset());
          if (type == AcknowledgeType.REJECT) rejected++;
          reader.consumer.acknowledge(record, type);
        }
        check(reader.commit() == null, "the acknowledgement succeeds");
      }
      check(again.stream().allMatch(offset -> offset % 3 == 1), "only what was released comes again");
      check(reader.poll(500).isEmpty(), "nothing is left");
      return Map.of("delivered", reader.records.size(), "again", again.size(), "rejected", rejected);
    }
  }

  /** A lock that is renewed outlives its time; one that is not is somebody else's after it. */
  static Map<String, Object> locks() throws Exception {
    String name = prepare("locks", "share.record.lock.duration.ms", "15000");
    send(producer, name, 0, 1);
    send(producer, name, 1, 2);
    String[] one = {"share.acknowledgement.mode", "explicit", "max.poll.records", "1", "share.acquire.mode", "record_limit"};
    try (Reader renewing = new Reader(name, one); Reader idle = new Reader(name, one); Reader other = new Reader(name, one)) {
      var renewed = renewing.next();
      int lockMs = renewing.consumer.acquisitionLockTimeoutMs().get();
      var lost = idle.next();
      long start = System.currentTimeMillis();
      ExecutorService waiting = Executors.newSingleThreadExecutor();
      var found = waiting.submit(() -> {
        var records = other.next();
        long tookMs = System.currentTimeMillis() - start;
        other.finish(records, AcknowledgeType.ACCEPT);
        return Map.entry(records.get(0), tookMs);
      });
      Thread.sleep(8_000);
      renewing.finish(renewed, AcknowledgeType.RENEW);
      var taken = found.get(60, TimeUnit.SECONDS);
      waiting.shutdown();
      // Late, while the record before it is still held: behind the group's start nobody would mind.
      idle.consumer.acknowledge(lost.get(0), AcknowledgeType.ACCEPT);
      String late = idle.commit();
      // What was renewed is given by the next poll again, as the same delivery.
      var same = renewing.next();
      check(same.get(0).offset() == renewed.get(0).offset() && counted(same.get(0)) == 1, "it is the same delivery");
      renewing.finish(same, AcknowledgeType.ACCEPT);
      check(taken.getValue() > 10_000 && taken.getValue() < 30_000, "the lock ends after its time, not after " + taken.getValue() + " ms");
      check(taken.getKey().offset() == lost.get(0).offset(), "it is the record whose lock ended");
      return Map.of("lockMs", lockMs, "count", counted(taken.getKey()), "late", "" + late);
    }
  }

  /** Released until the limit, a record is archived; the one behind it goes its way. */
  static Map<String, Object> limit() throws Exception {
    String name = prepare("limit", "share.delivery.count.limit", "3");
    send(producer, name, 0, 1);
    List<Integer> counts = new ArrayList<>();
    try (Reader reader = new Reader(name, "share.acknowledgement.mode", "explicit")) {
      for (int i = 0; i < 3; i++) {
        var held = reader.next();
        counts.add(counted(held.get(0)));
        reader.finish(held, AcknowledgeType.RELEASE);
      }
      send(producer, name, 1, 2);
      var after = reader.next();
      reader.finish(after, AcknowledgeType.ACCEPT);
      return Map.of("counts", counts, "after", values(after));
    }
  }

  /** A compressed batch of several thousand records: whole in batch_optimized, in portions of any size in record_limit. */
  static Map<String, Object> modes() throws Exception {
    String name = prepare("modes", "share.partition.max.record.locks", "4000");
    Properties properties = common();
    properties.putAll(Map.of("compression.type", "zstd", "linger.ms", "60000", "batch.size", "900000", "buffer.memory", "33554432"));
    try (Producer<String, String> compressing = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
      send(compressing, name, 0, 3_000);
      send(compressing, name, 3_000, 8_000);
    }
    Reader optimized = new Reader(name, "share.acquire.mode", "batch_optimized", "max.poll.records", "100");
    while (optimized.records.size() < 3_000) optimized.next();
    optimized.close();
    check(optimized.records.size() == 3_000, "a batch is acquired whole");
    String[] limited = {"share.acquire.mode", "record_limit", "max.poll.records", "300"};
    List<Reader> readers = List.of(new Reader(name, limited), new Reader(name, limited));
    share(readers, 5_000);
    int largest = readers.stream().mapToInt(reader -> reader.largestPoll).max().getAsInt();
    return Map.of("optimized", distinct(List.of(optimized)), "limited", distinct(readers), "largest", largest,
      "both", readers.stream().allMatch(reader -> !reader.records.isEmpty()));
  }

  static long distinct(List<Reader> readers) {
    return readers.stream().flatMap(reader -> reader.records.stream()).map(ConsumerRecord::offset).distinct().count();
  }

  /** Lets readers take turns, each in a thread, until they have so many records together; then closes them. */
  static void share(List<Reader> readers, int records) throws Exception {
    AtomicInteger left = new AtomicInteger(records);
    long deadline = System.currentTimeMillis() + 60_000;
    ExecutorService threads = Executors.newFixedThreadPool(readers.size());
    List<Future<?>> running = new ArrayList<>();
    for (Reader reader : readers) running.add(threads.submit(() -> {
      while (left.get() > 0 && System.currentTimeMillis() < deadline) left.addAndGet(-reader.poll(100).size());
      reader.close();
    }));
    for (var each : running) each.get();
    threads.shutdown();
    check(left.get() == 0, left + " records never came, or came twice");
  }

  /** Several consumers on the one partition: each record goes to one of them. */
  static Map<String, Object> several() throws Exception {
    String name = prepare("several");
    for (int i = 0; i < 3_000; i += 100) send(producer, name, i, i + 100);
    List<Reader> readers = new ArrayList<>();
    for (int i = 0; i < 3; i++) readers.add(new Reader(name, "share.acquire.mode", "record_limit", "max.poll.records", "50"));
    // All of them are there before any takes a record.
    until(() -> members(name) == 3, readers);
    share(readers, 3_000 - (int) readers.stream().mapToLong(reader -> reader.records.size()).sum());
    return Map.of("distinct", distinct(readers), "all", readers.stream().mapToInt(reader -> reader.records.size()).sum(),
      "each", readers.stream().allMatch(reader -> !reader.records.isEmpty()));
  }

  static int members(String group) throws Exception {
    try {
      return admin.describeShareGroups(List.of(group)).all().get().get(group).members().size();
    } catch (ExecutionException error) {
      if (error.getCause() instanceof GroupIdNotFoundException) return 0;
      throw error;
    }
  }

  static void until(Callable<Boolean> condition, List<Reader> polling) throws Exception {
    long deadline = System.currentTimeMillis() + 60_000;
    while (!condition.call()) {
      check(System.currentTimeMillis() < deadline, "it happens within a minute");
      for (Reader reader : polling) reader.poll(20);
    }
  }

  /** A consumer killed while it holds records: they come back at once, not after their lock's time. */
  static Map<String, Object> killed() throws Exception {
    String name = prepare("killed", "share.record.lock.duration.ms", "60000");
    send(producer, name, 0, 5);
    String java = ProcessHandle.current().info().command().get();
    Process holder = new ProcessBuilder(java, "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), "Shares", address, "hold", name).redirectErrorStream(true).start();
    String said = new BufferedReader(new InputStreamReader(holder.getInputStream())).readLine();
    check("holding 5".equals(said), "the other process holds all, and says " + said);
    long start = System.currentTimeMillis();
    holder.destroyForcibly().waitFor();
    try (Reader reader = new Reader(name)) {
      var back = reader.next();
      check(System.currentTimeMillis() - start < 40_000, "they come back before their locks end");
      return Map.of("back", back.size(), "count", counted(back.get(0)));
    }
  }

  static void hold(String name) throws Exception {
    Reader reader = new Reader(name, "share.acknowledgement.mode", "explicit");
    System.out.println("holding " + reader.next().size());
    Thread.sleep(120_000);
  }

  /** What administrators see and set. */
  static Map<String, Object> admins() throws Exception {
    String name = prepare("admins");
    send(producer, name, 0, 10);
    TopicPartition partition = new TopicPartition(name, 0);
    Reader reader = new Reader(name);
    while (reader.records.size() < 10) reader.next();
    int members = members(name);
    String refused = failure(() -> admin.alterShareGroupOffsets(name, Map.of(partition, 4L)).all().get());
    reader.close();
    var offset = offsetOf(name, partition);
    admin.alterShareGroupOffsets(name, Map.of(partition, 4L)).all().get();
    var altered = offsetOf(name, partition);
    List<String> again;
    try (Reader after = new Reader(name)) {
      again = values(after.next());
    }
    String tool = printed(() -> ShareGroupCommand.main(new String[] {"--bootstrap-server", address, "--describe", "--group", name}));
    printed(() -> ShareGroupCommand.main(new String[] {"--bootstrap-server", address, "--reset-offsets", "--to-earliest", "--topic", name, "--group", name, "--execute"}));
    var reset = offsetOf(name, partition);
    String type = admin.listGroups().all().get().stream().filter(group -> group.groupId().equals(name)).map(group -> group.type().get().toString()).findFirst().get();
    admin.deleteShareGroupOffsets(name, Set.of(name)).all().get();
    admin.deleteShareGroups(List.of(name)).all().get();
    return new TreeMap<>(Map.of("members", members, "refused", refused, "start", offset.startOffset(), "lag", offset.lag().get(),
      "altered", altered.startOffset() + "+" + altered.lag().get(), "again", again, "tool", tool.contains(name) && tool.contains("START-OFFSET"),
      "reset", reset.startOffset(), "type", type));
  }

  static SharePartitionOffsetInfo offsetOf(String group, TopicPartition partition) throws Exception {
    return admin.listShareGroupOffsets(Map.of(group, new ListShareGroupOffsetsSpec())).partitionsToOffsetInfo(group).get().get(partition);
  }

  interface Step {
    void run() throws Exception;
  }

  static String failure(Step step) throws Exception {
    try {
      step.run();
      return "none";
    } catch (ExecutionException error) {
      return error.getCause().getClass().getSimpleName();
    }
  }

  static synchronized String printed(Step step) throws Exception {
    PrintStream before = System.out;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    System.setOut(new PrintStream(bytes, true));
    try {
      step.run();
    } finally {
      System.setOut(before);
    }
    return bytes.toString();
  }

  /** Rejected and given up: copied with where they came from. */
  static Map<String, Object> deadLetters() throws Exception {
    String queue = "dlq.share";
    NewTopic topic = new NewTopic(queue, 1, (short) 1).configs(Map.of("errors.deadletterqueue.group.enable", "true"));
    admin.createTopics(List.of(topic)).all().get();
    String name = prepare("dead", "share.delivery.count.limit", "2", "errors.deadletterqueue.topic.name", queue, "errors.deadletterqueue.copy.record.enable", "true");
    send(producer, name, 0, 6);
    try (Reader reader = new Reader(name, "share.acknowledgement.mode", "explicit")) {
      for (int left = 8; left > 0; ) {
        for (var record : reader.next()) {
          left--;
          AcknowledgeType type = record.offset() == 1 ? AcknowledgeType.REJECT : record.offset() >= 4 ? AcknowledgeType.RELEASE : AcknowledgeType.ACCEPT;
          reader.consumer.acknowledge(record, type);
        }
        check(reader.commit() == null, "the acknowledgement succeeds");
      }
    }
    Properties properties = common();
    properties.put("auto.offset.reset", "earliest");
    Map<String, Object> dead = new TreeMap<>();
    try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer())) {
      consumer.assign(List.of(new TopicPartition(queue, 0)));
      long deadline = System.currentTimeMillis() + 60_000;
      while (dead.size() < 3) {
        check(System.currentTimeMillis() < deadline, "dead letters come within a minute");
        for (var record : consumer.poll(Duration.ofMillis(200))) dead.put(record.key() + "=" + record.value(), headers(record));
      }
    }
    return dead;
  }

  static String headers(ConsumerRecord<?, ?> record) {
    List<String> texts = new ArrayList<>();
    for (Header header : record.headers()) texts.add(header.key().replace("__dlq.errors.", "") + ": " + new String(header.value(), StandardCharsets.UTF_8));
    return String.join(", ", texts);
  }

  static String json(Object value) {
    if (value instanceof Map<?, ?> map) return map.entrySet().stream().map(entry -> json("" + entry.getKey()) + ":" + json(entry.getValue())).collect(Collectors.joining(",", "{", "}"));
    if (value instanceof Collection<?> list) return list.stream().map(Shares::json).collect(Collectors.joining(",", "[", "]"));
    if (value instanceof Number || value instanceof Boolean) return "" + value;
    return "\"" + ("" + value).replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", " ") + "\"";
  }

  public static void main(String[] arguments) throws Exception {
    address = arguments[0];
    if (arguments.length > 2) {
      hold(arguments[2]);
      return;
    }
    admin = Admin.create(common());
    producer = new KafkaProducer<>(common(), new StringSerializer(), new StringSerializer());
    Map<String, Callable<Map<String, Object>>> scenarios = new LinkedHashMap<>();
    scenarios.put("locks", Shares::locks);
    scenarios.put("killed", Shares::killed);
    scenarios.put("implicit", Shares::implicit);
    scenarios.put("explicit", Shares::explicit);
    scenarios.put("limit", Shares::limit);
    scenarios.put("modes", Shares::modes);
    scenarios.put("several", Shares::several);
    scenarios.put("admins", Shares::admins);
    scenarios.put("deadLetters", Shares::deadLetters);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    Map<String, Future<Map<String, Object>>> running = new LinkedHashMap<>();
    if (!arguments[1].equals("all")) scenarios.keySet().retainAll(Set.of(arguments[1]));
    for (var scenario : scenarios.entrySet()) running.put(scenario.getKey(), threads.submit(() -> {
      long start = System.currentTimeMillis();
      Map<String, Object> found = scenario.getValue().call();
      System.err.println(scenario.getKey() + ": " + (System.currentTimeMillis() - start) + " ms");
      return found;
    }));
    Map<String, Object> results = new LinkedHashMap<>();
    for (var scenario : running.entrySet()) {
      try {
        results.put(scenario.getKey(), scenario.getValue().get());
      } catch (ExecutionException error) {
        StringWriter trace = new StringWriter();
        error.getCause().printStackTrace(new PrintWriter(trace));
        results.put(scenario.getKey(), trace.toString());
      }
    }
    threads.shutdown();
    producer.close();
    admin.close();
    System.out.println(json(results));
    System.exit(0);
  }
}
