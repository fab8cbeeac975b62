import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.*;

/**
 * Groups as Kafka's Java clients use them. ADDRESS SCENARIO: classic, consumer and regex let members share, come, go, live
 * through a broker that is killed, and a static member get its place back; migrate takes a group with members from the
 * classic to the consumer protocol and back. Prints `kill` and waits for a line when the broker is to be killed and started
 * again; the last line is what was read, as JSON. Any step that does not happen within a minute is an error.
 */
public class Groups {
  static final int PARTITIONS = 4;
  static String address;
  static String topic;
  static String group;
  static Producer<String, String> producer;
  static Admin admin;

  static Properties common() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", address);
    return properties;
  }

  static class Reader extends Thread implements ConsumerRebalanceListener {
    final List<String> values = Collections.synchronizedList(new ArrayList<>());
    final List<String> errors = Collections.synchronizedList(new ArrayList<>());
    volatile Set<Integer> owned = new TreeSet<>();
    volatile boolean stopping;
    final KafkaConsumer<String, String> consumer;

    Reader(String name, String protocol, String instance, String regex) {
      Properties properties = common();
      properties.put("client.id", name);
      properties.put("group.id", group);
      properties.put("group.protocol", protocol);
      properties.put("auto.offset.reset", "earliest");
      properties.put("auto.commit.interval.ms", "200");
      if (protocol.equals("classic")) {
        properties.put("session.timeout.ms", "20000");
        properties.put("heartbeat.interval.ms", "300");
      }
      if (instance != null) properties.put("group.instance.id", instance);
      consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
      if (regex == null) consumer.subscribe(List.of(topic), this);
      else consumer.subscribe(new SubscriptionPattern(regex), this);
      start();
    }

    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
      Set<Integer> now = new TreeSet<>(owned);
      partitions.forEach(partition -> now.add(partition.partition()));
      owned = now;
    }

    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
      Set<Integer> now = new TreeSet<>(owned);
      partitions.forEach(partition -> now.remove(partition.partition()));
      owned = now;
    }

    public void onPartitionsLost(Collection<TopicPartition> partitions) {
      errors.add("lost its partitions");
      owned = new TreeSet<>();
    }

    public void run() {
      try {
        while (!stopping) for (ConsumerRecord<String, String> read : consumer.poll(Duration.ofMillis(50))) values.add(read.value());
      } catch (RuntimeException error) {
        errors.add(error.toString());
      } finally {
        consumer.close();
      }
    }

    void end() throws InterruptedException {
      stopping = true;
      join();
    }
  }

  static void until(Callable<Boolean> condition, String what) throws Exception {
    long deadline = System.currentTimeMillis() + 60_000;
    while (!condition.call()) {
      if (System.currentTimeMillis() > deadline) throw new Exception("never: " + what);
      Thread.sleep(30);
    }
  }

  static boolean share(Reader... readers) {
    List<Integer> all = Stream.of(readers).flatMap(reader -> reader.owned.stream()).sorted().collect(Collectors.toList());
    return all.equals(List.of(0, 1, 2, 3)) && Stream.of(readers).noneMatch(reader -> reader.owned.isEmpty());
  }

  static long distinct(Reader... readers) {
    return Stream.of(readers).flatMap(reader -> List.copyOf(reader.values).stream()).distinct().count();
  }

  static void send(int first, int end) throws Exception {
    List<java.util.concurrent.Future<RecordMetadata>> sent = new ArrayList<>();
    for (int value = first; value < end; value++) sent.add(producer.send(new ProducerRecord<>(topic, value % PARTITIONS, null, "" + value)));
    for (var each : sent) each.get();
  }

  static Reader[] shareScenario(String protocol, String regex) throws Exception {
    Reader a = new Reader("a", protocol, null, regex), b = new Reader("b", protocol, null, regex);
    until(() -> share(a, b), "two members share");
    send(0, 100);
    until(() -> distinct(a, b) == 100, "100 are read");
    b.end();
    until(() -> share(a), "the other takes over");
    // What is read is committed before the broker dies, so that nothing may be read again.
    Thread.sleep(600);
    System.out.println("kill");
    new BufferedReader(new InputStreamReader(System.in)).readLine();
    send(100, 200);
    until(() -> distinct(a, b) == 200, "200 are read, through a restart");
    Reader c = new Reader("c", protocol, "static", regex);
    until(() -> share(a, c), "a static member shares");
    Set<Integer> before = c.owned;
    c.end();
    Reader d = new Reader("d", protocol, "static", regex);
    until(() -> d.owned.equals(before), "its successor has the same partitions");
    send(200, 300);
    until(() -> distinct(a, b, c, d) == 300, "300 are read");
    a.end();
    d.end();
    var removed = new RemoveMembersFromConsumerGroupOptions(List.of(new MemberToRemove("static")));
    // The consumer protocol's last static member has left for a while; the classic one's has said nothing.
    admin.removeMembersFromConsumerGroup(group, removed).all().get();
    return new Reader[] {a, b, c, d};
  }

  static Reader[] migrateScenario() throws Exception {
    Reader a = new Reader("a", "classic", null, null), b = new Reader("b", "classic", null, null);
    until(() -> share(a, b), "two classic members share");
    send(0, 100);
    until(() -> distinct(a, b) == 100, "100 are read");
    Reader c = new Reader("c", "consumer", null, null);
    until(() -> share(a, b, c), "a member of the consumer protocol shares with them");
    send(100, 200);
    until(() -> distinct(a, b, c) == 200, "200 are read");
    a.end();
    b.end();
    until(() -> share(c), "it is alone");
    Reader d = new Reader("d", "classic", null, null);
    until(() -> share(c, d), "a classic member shares with it");
    send(200, 300);
    until(() -> distinct(a, b, c, d) == 300, "300 are read");
    c.end();
    until(() -> share(d), "the classic member is alone");
    d.end();
    return new Reader[] {a, b, c, d};
  }

  static String quoted(Stream<String> texts) {
    return texts.map(text -> "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"").collect(Collectors.joining(",", "[", "]"));
  }

  public static void main(String[] arguments) throws Exception {
    address = arguments[0];
    String scenario = arguments[1];
    topic = "java-" + scenario + "-" + UUID.randomUUID();
    group = "group-" + topic;
    admin = Admin.create(common());
    producer = new KafkaProducer<>(common(), new StringSerializer(), new StringSerializer());
    admin.createTopics(List.of(new NewTopic(topic, PARTITIONS, (short) 1))).all().get();
    Reader[] readers;
    if (scenario.equals("migrate")) readers = migrateScenario();
    else if (scenario.equals("regex")) readers = shareScenario("consumer", "java-(regex|nothing)-.*" + topic.substring(topic.length() - 8));
    else readers = shareScenario(scenario, null);
    String type = admin.listGroups().all().get().stream().filter(listed -> listed.groupId().equals(group)).map(listed -> listed.type().get().toString()).findFirst().get();
    String committed = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().values().stream().map(offset -> "" + offset.offset()).collect(Collectors.joining(","));
    admin.alterConsumerGroupOffsets(group, Map.of(new TopicPartition(topic, 0), new OffsetAndMetadata(5))).all().get();
    admin.deleteConsumerGroupOffsets(group, Set.of(new TopicPartition(topic, 1))).all().get();
    int altered = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().size();
    admin.deleteConsumerGroups(List.of(group)).all().get();
    long values = Stream.of(readers).mapToLong(reader -> reader.values.size()).sum();
    String errors = quoted(Stream.of(readers).flatMap(reader -> reader.errors.stream()));
    System.out.println("{\"values\":" + values + ",\"distinct\":" + distinct(readers) + ",\"errors\":" + errors + ",\"type\":\"" + type + "\",\"committed\":[" + committed + "],\"altered\":" + altered + "}");
    producer.close();
    admin.close();
  }
}
