import java.io.FileOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.*;

/** The soak's client program of Kafka's Java clients (arguments.ts says how it is called). */
public class Soak {
  static final int BURST_RECORDS = 40;
  static final int PADDING = 300;
  static final long AHEAD_MS = 7_200_000;
  static final int MOST_OUTSTANDING = 2000;
  static final List<String> CODECS = List.of("none", "gzip", "snappy", "lz4", "zstd");

  record Topic(String name, int partitions) {}

  static Map<String, String> given;
  static String name;
  static List<Topic> topics;
  static FileOutputStream journal;
  static volatile boolean stopping;

  static synchronized void write(String letter, Object... fields) {
    String rest = Stream.of(fields).map(String::valueOf).collect(Collectors.joining(" "));
    try {
      journal.write((letter + " " + System.currentTimeMillis() + " " + rest + "\n").getBytes(StandardCharsets.UTF_8));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  static Properties common() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", given.get("address"));
    properties.put("client.id", name);
    properties.put("reconnect.backoff.max.ms", "1000");
    return properties;
  }

  static class Lane {
    final String lane;
    final String producerName;
    final Map<String, Long> next = new HashMap<>();
    final AtomicInteger outstanding = new AtomicInteger();
    final Producer<String, String> producer;

    Lane(String lane) {
      this.lane = lane;
      producerName = name + "." + lane;
      Properties properties = common();
      properties.put("compression.type", CODECS.contains(lane) ? lane : "none");
      properties.put("enable.idempotence", String.valueOf(CODECS.contains(lane)));
      properties.put("acks", "all");
      properties.put("delivery.timeout.ms", "180000");
      properties.put("request.timeout.ms", "20000");
      // Longer than a topic is away while it is deleted and created again.
      properties.put("max.block.ms", "60000");
      producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer());
    }

    void burst(Random random) {
      if (outstanding.get() > MOST_OUTSTANDING) return;
      Topic topic = topics.get(random.nextInt(topics.size()));
      int partition = random.nextInt(topic.partitions());
      boolean refused = lane.equals("refused");
      long count = refused ? 1 : 1 + random.nextInt(BURST_RECORDS);
      long first = next.merge(topic.name() + " " + partition, count, Long::sum) - count;
      for (long number = first; number < first + count; number++) {
        long each = number;
        long sent = System.currentTimeMillis();
        String value = String.join("|", producerName, topic.name(), "" + partition, "" + number, "x".repeat(random.nextInt(PADDING)));
        write("S", producerName, topic.name(), partition, number);
        outstanding.incrementAndGet();
        producer.send(
            new ProducerRecord<>(topic.name(), partition, sent + (refused ? AHEAD_MS : 0), null, value),
            (metadata, error) -> {
              outstanding.decrementAndGet();
              String outcome = error == null ? "accepted" : error.getClass().getSimpleName();
              if (refused) write("R", producerName, topic.name(), partition, each, outcome);
              else if (error != null) write("F", producerName, topic.name(), partition, each, outcome);
              else write("A", producerName, topic.name(), partition, each, metadata.offset(), sent);
            });
      }
    }
  }

  static void produce() throws InterruptedException {
    Random random = new Random(Long.parseLong(given.get("seed")));
    List<Lane> lanes = Stream.concat(CODECS.stream(), Stream.of("plain", "refused")).map(Lane::new).collect(Collectors.toList());
    double pauseMs = 1000.0 * (BURST_RECORDS / 2) / Double.parseDouble(given.get("rate"));
    while (!stopping) {
      for (Lane lane : lanes) {
        lane.burst(random);
        Thread.sleep((long) (pauseMs * 2 * random.nextDouble()));
      }
    }
    for (Lane lane : lanes) lane.producer.close(Duration.ofSeconds(90));
  }

  static void consume() {
    Properties properties = common();
    properties.put("group.id", "soak-" + name.split("\\.")[0]);
    properties.put("group.protocol", "consumer");
    properties.put("auto.offset.reset", "earliest");
    properties.put("enable.auto.commit", "false");
    properties.put("metadata.max.age.ms", "2000");
    properties.put("fetch.max.wait.ms", "200");
    properties.put("default.api.timeout.ms", "30000");
    properties.put("max.poll.interval.ms", "60000");
    write("M", name);
    var consumer = new KafkaConsumer<>(properties, new StringDeserializer(), new StringDeserializer());
    consumer.subscribe(
        topics.stream().map(Topic::name).collect(Collectors.toList()),
        new ConsumerRebalanceListener() {
          public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            partitions.forEach(each -> write("+", name, each.topic(), each.partition()));
          }

          public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            partitions.forEach(each -> write("-", name, each.topic(), each.partition()));
          }
        });
    while (!stopping) {
      try {
        Map<TopicPartition, OffsetAndMetadata> read = new HashMap<>();
        for (var record : consumer.poll(Duration.ofMillis(100))) {
          String[] value = record.value().split("\\|");
          write("C", name, record.topic(), record.partition(), record.offset(), value[0], value[3]);
          read.put(new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        if (read.isEmpty()) continue;
        consumer.commitSync(read);
        read.forEach((at, offset) -> write("K", name, at.topic(), at.partition(), offset.offset()));
      } catch (KafkaException error) {
        write("E", name, error.getClass().getSimpleName());
      }
    }
    consumer.close();
  }

  public static void main(String[] arguments) throws Exception {
    given = Stream.of(arguments).map(argument -> argument.split("=", 2)).collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
    name = given.get("name");
    topics = Stream.of(given.get("topics").split(",")).map(text -> text.split(":")).map(pair -> new Topic(pair[0], Integer.parseInt(pair[1]))).collect(Collectors.toList());
    journal = new FileOutputStream(given.get("journal"), true);
    Thread main = Thread.currentThread();
    Runtime.getRuntime().addShutdownHook(
        new Thread(
            () -> {
              stopping = true;
              try {
                main.join(100_000);
              } catch (InterruptedException ignored) {
                return;
              }
            }));
    if (given.get("mode").equals("produce")) produce();
    else consume();
  }
}
