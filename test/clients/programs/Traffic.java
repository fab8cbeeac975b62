import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.*;

/** The traffic program of Kafka's Java clients; arguments.ts says what it is told and what it says. */
public class Traffic {
  static final int BLOCK_RECORDS = 1000;
  static final int STEP_RECORDS = 100;
  static final String READ_RECORDS = "500";
  static final double SLOW_SHARE = 0.2;
  static final int SLOW_STEP_MS = 50;
  static final int REPORTS = 20;
  static final byte[] EMPTY = new byte[0];
  static final List<Header> NULL_HEADER = List.of(new RecordHeader("null", (byte[]) null));
  static final List<List<Header>> BLOCK_HEADERS =
      List.of(
          List.of(),
          List.of(header("plain", "value")),
          List.of(header("empty", "")),
          NULL_HEADER,
          List.of(header("twice", "1"), header("twice", "é漢")));

  static final Map<String, String> values = new HashMap<>();
  static final Map<String, Topic> topics = new LinkedHashMap<>();
  static long base;
  static int partitions;
  static int perPartition;
  static double[] marks;
  static long total;
  static Pace pace;

  static Header header(String key, String value) {
    return new RecordHeader(key, value.getBytes(StandardCharsets.UTF_8));
  }

  /** What is known of a topic: what its content follows from, and how far its partitions are acknowledged or read. */
  static class Topic {
    final String name;
    final String codec;
    final int seed;
    final long[] next;
    long records;
    int timestamps;

    Topic(String name, String codec) {
      this.name = name;
      this.codec = codec;
      next = new long[partitions];
      int hash = 0x811c9dc5;
      for (byte each : name.getBytes(StandardCharsets.UTF_8)) hash = (hash ^ (each & 255)) * 0x01000193;
      seed = hash;
    }
  }

  static int mixed(int value) {
    int x = value;
    x = (x ^ (x >>> 16)) * 0x7feb352d;
    x = (x ^ (x >>> 15)) * 0x846ca68b;
    return x ^ (x >>> 16);
  }

  /** A timestamp of null is the producer's own clock's. */
  record Content(byte[] key, byte[] value, List<Header> headers, Long timestamp) {
    static Content of(Topic topic, int partition, int sequence) {
      int x = mixed(topic.seed + partition * 0x85ebca77 + sequence * 0xc2b2ae3d);
      int block = sequence / BLOCK_RECORDS;
      byte[] nothing = block % 2 == 0 ? null : EMPTY;
      byte[] key = (x & 3) == 0 ? nothing : ("key-" + Integer.remainderUnsigned(x, 1000)).getBytes(StandardCharsets.UTF_8);
      byte[] value = nothing;
      if (((x >>> 8) & 7) != 0) {
        String text = topic.name + "/" + partition + "/" + sequence + "/é漢🐟/" + "abcdefgh-".repeat((x >>> 12) & 15);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        value = Arrays.copyOf(bytes, bytes.length + 2);
        value[bytes.length] = (byte) 0xff;
        value[bytes.length + 1] = (byte) 0xfe;
      }
      Long timestamp = topic.name.startsWith("clock.") ? null : base + sequence * 3L + Integer.remainderUnsigned(x, 2000);
      List<Header> headers = BLOCK_HEADERS.get(block % BLOCK_HEADERS.size());
      if (headers == NULL_HEADER && topic.name.startsWith("nonull.")) headers = List.of(header("null", ""));
      return new Content(key, value, headers, timestamp);
    }

    boolean isIn(ConsumerRecord<byte[], byte[]> read) {
      boolean inTime = timestamp == null ? read.timestamp() >= base && read.timestamp() <= System.currentTimeMillis() : read.timestamp() == timestamp;
      return inTime && Arrays.equals(key, read.key()) && Arrays.equals(value, read.value()) && headers.equals(List.of(read.headers().toArray()));
    }

    public String toString() {
      return Arrays.toString(key) + ", " + Arrays.toString(value) + ", " + headers + ", " + timestamp;
    }
  }

  static class Pace extends Thread {
    long reported;
    int reached;
    volatile int releases;

    Pace() {
      setDaemon(true);
      start();
    }

    public void run() {
      new BufferedReader(new InputStreamReader(System.in)).lines().forEach(line -> releases++);
    }

    boolean isHeld() {
      return releases <= reached;
    }

    boolean isPastMarks() {
      return reached == marks.length && !isHeld();
    }

    void ready() throws InterruptedException {
      System.out.println("ready");
      while (isHeld()) sleep(5);
    }

    void step(long done) throws InterruptedException {
      if (done * REPORTS >= (reported + 1) * total) {
        reported = done * REPORTS / total;
        System.out.println("at " + done);
      }
      if (!isHeld() && reached < marks.length && done >= marks[reached] * total) {
        System.out.println("mark " + done);
        reached++;
      }
      while (isHeld()) {
        sleep(SLOW_STEP_MS);
        if (done < (marks[reached - 1] + SLOW_SHARE) * total) return;
      }
    }
  }

  static Properties common() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", values.get("address"));
    properties.put("client.id", values.get("client"));
    return properties;
  }

  static Producer<byte[], byte[]> producer(String codec) {
    Properties properties = common();
    properties.put("compression.type", codec);
    properties.put("acks", "all");
    properties.put("enable.idempotence", "true");
    return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  static String produce() throws Exception {
    Map<Topic, Producer<byte[], byte[]>> producers = new LinkedHashMap<>();
    topics.values().forEach(topic -> producers.put(topic, producer(topic.codec)));
    AtomicReference<String> wrong = new AtomicReference<>();
    AtomicLong acknowledged = new AtomicLong();
    pace.ready();
    long sent = 0;
    for (int sequence = 0; sequence < perPartition; sequence++) {
      for (var entry : producers.entrySet()) {
        Topic topic = entry.getKey();
        for (int partition = 0; partition < partitions; partition++) {
          Content content = Content.of(topic, partition, sequence);
          long expected = sequence;
          Callback callback =
              (metadata, error) -> {
                if (error != null || metadata.offset() != expected)
                  wrong.compareAndSet(null, topic.name + "@" + expected + ": " + (error == null ? "offset " + metadata.offset() : error.toString()));
                acknowledged.incrementAndGet();
              };
          entry.getValue().send(new ProducerRecord<>(topic.name, partition, content.timestamp, content.key, content.value, content.headers), callback);
          sent++;
          if (sent % STEP_RECORDS == 0) pace.step(sent);
          if (wrong.get() != null) throw new Exception(wrong.get());
        }
      }
    }
    producers.values().forEach(Producer::close);
    if (wrong.get() != null || acknowledged.get() != total) throw new Exception(acknowledged + " of " + total + " acknowledged, " + wrong);
    return "\"records\":" + sent;
  }

  static void check(ConsumerRecord<byte[], byte[]> read) throws Exception {
    Topic topic = topics.get(read.topic());
    String place = read.topic() + "-" + read.partition() + "@" + read.offset();
    if (read.offset() != topic.next[read.partition()]) throw new Exception(place + " came where " + topic.next[read.partition()] + " was due");
    if (read.offset() >= perPartition) throw new Exception(place + " is one too many");
    topic.next[read.partition()]++;
    Content expected = Content.of(topic, read.partition(), (int) read.offset());
    if (!expected.isIn(read)) throw new Exception(place + " is " + read + " instead of " + expected);
    topic.records++;
    topic.timestamps += mixed(mixed(read.partition() * 1_000_003 + (int) read.offset()) + (int) (read.timestamp() & 0x7fffffff));
  }

  static String consume() throws Exception {
    Properties properties = common();
    properties.put("group.id", values.get("group"));
    properties.put("group.protocol", values.get("protocol"));
    properties.put("auto.offset.reset", "earliest");
    properties.put("auto.commit.interval.ms", "200");
    properties.put("max.poll.records", READ_RECORDS);
    long records = 0;
    for (boolean first = true; records < total; first = false) {
      try (var consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
        consumer.subscribe(topics.keySet());
        if (first) pace.ready();
        boolean startedPast = pace.isPastMarks();
        while (records < total && pace.isPastMarks() == startedPast) {
          var read = consumer.poll(Duration.ofMillis(200));
          for (var each : read) check(each);
          records += read.count();
          pace.step(records);
        }
      }
    }
    String perTopic =
        topics.values().stream()
            .map(topic -> "\"" + topic.name + "\":{\"records\":" + topic.records + ",\"timestamps\":" + Integer.toUnsignedString(topic.timestamps) + "}")
            .collect(Collectors.joining(","));
    return "\"records\":" + records + ",\"topics\":{" + perTopic + "}";
  }

  static String version() throws Exception {
    Properties found = new Properties();
    try (var file = Traffic.class.getResourceAsStream("/kafka/kafka-version.properties")) {
      found.load(file);
    }
    return found.getProperty("version");
  }

  public static void main(String[] arguments) throws Exception {
    for (String argument : arguments) values.put(argument.split("=", 2)[0], argument.split("=", 2)[1]);
    base = Long.parseLong(values.get("base"));
    partitions = Integer.parseInt(values.get("partitions"));
    perPartition = Integer.parseInt(values.get("records"));
    for (String topic : values.get("topics").split(",")) topics.put(topic.split(":")[0], new Topic(topic.split(":")[0], topic.split(":")[1]));
    marks = Arrays.stream(values.get("marks").split(",")).filter(mark -> !mark.isEmpty()).mapToDouble(Double::parseDouble).toArray();
    total = (long) topics.size() * partitions * perPartition;
    pace = new Pace();
    String result = values.get("mode").equals("produce") ? produce() : consume();
    System.out.println("{\"version\":\"" + version() + "\"," + result + "}");
  }
}
