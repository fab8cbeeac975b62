import { Kafka, logLevel } from 'kafkajs';
import { InMemoryDisklessCoordinator, InMemoryObjectStorage, openEngine } from 'shoal';
import { formatEndpoint, startKafkaServer } from 'shoal/server';

/** A broker of this process's own, on a free port, that keeps nothing: one for each test file. */
async function startTestBroker() {
  const [coordinator, objectStorage] = [new InMemoryDisklessCoordinator(), new InMemoryObjectStorage()];
  const settings = { produceCommitIntervalMs: 1, workerThreads: 1 };
  const engine = await openEngine({ objectStorage, coordinator }, settings);
  const server = await startKafkaServer(engine, { coordinator, listen: { host: '127.0.0.1', port: 0 } });
  return {
    address: formatEndpoint(server.listener),
    async stop() {
      await server.close();
      await engine.close();
    },
  };
}

const broker = await startTestBroker();
const kafka = new Kafka({ brokers: [broker.address], logLevel: logLevel.NOTHING });

const producer = kafka.producer();
await producer.connect();
await producer.send({ topic: 'orders', messages: [{ key: '7', value: 'paid' }] });
await producer.disconnect();

const consumer = kafka.consumer({ groupId: 'billing' });
await consumer.connect();
await consumer.subscribe({ topic: 'orders', fromBeginning: true });
const value = await new Promise<string>((resolve) => {
  void consumer.run({ eachMessage: async ({ message }) => resolve(`${message.value}`) });
});
console.log('order 7 is', value);

await consumer.disconnect();
await broker.stop();
