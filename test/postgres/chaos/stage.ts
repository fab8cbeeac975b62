/** What all who take part share: the brokers, the database, what is known of each partition, what went wrong. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Random, randomInt } from '../../../src/common/random.ts';
import { partitionKey } from '../../../src/common/topic-id-partition.ts';
import type { PostgresServer } from '../postgres-server.ts';
import type { Broker, Operation } from './broker.ts';
import type { Answers, Operations } from './broker-process.ts';
import { Ledger } from './ledger.ts';

export class Stage {
  readonly brokers: readonly Broker[];
  readonly server: PostgresServer;
  readonly faults: string[] = [];
  readonly counts = {
    valuesMade: 0,
    acknowledgedBatches: 0,
    retries: 0,
    duplicatesAsked: 0,
    refusedBatches: 0,
    unknownBatches: 0,
    recordsDeletions: 0,
    topicsDeleted: 0,
    partitionsAdded: 0,
    brokersKilled: 0,
    brokersStopped: 0,
    backendsTerminated: 0,
    connectionsCut: 0,
    locksHeld: 0,
    serverKills: 0,
    fetches: 0,
    recordsRead: 0,
  };
  /** Whoever writes or disturbs ends soon once it is true. */
  stopping = false;
  readonly #ledgers = new Map<string, Ledger>();

  constructor(brokers: readonly Broker[], server: PostgresServer) {
    this.brokers = brokers;
    this.server = server;
  }

  get disturbances(): number {
    const { brokersKilled, brokersStopped, backendsTerminated, connectionsCut, locksHeld, serverKills } = this.counts;
    return brokersKilled + brokersStopped + backendsTerminated + connectionsCut + locksHeld + serverKills;
  }

  fault(text: string): void {
    this.faults.push(text);
  }

  any(random: Random): Broker {
    return this.brokers[randomInt(random, 0, this.brokers.length - 1)]!;
  }

  /** Asks any broker until one answers. */
  async ask<O extends Operation>(random: Random, operation: O, body: Operations[O]): Promise<Answers[O]> {
    for (;;) {
      try {
        return await this.any(random).call(operation, body);
      } catch {
        await sleep(50);
      }
    }
  }

  /** Made by one attempt or another whose answer was lost; whoever is asked hears of it soon. */
  async create(random: Random, name: string, partitions: number, configs: Record<string, string>): Promise<Ledger[]> {
    for (;;) {
      await this.ask(random, 'createTopic', { name, partitions, configs });
      const found = (await this.ask(random, 'topics', null)).find((one) => one.name === name);
      if (found) return this.addLedgers(found.topicId, found.partitions);
      await sleep(50);
    }
  }

  addLedgers(topicId: string, partitions: number): Ledger[] {
    return Array.from({ length: partitions }, (_, partition) => {
      const key = partitionKey({ topicId, partition });
      const ledger = this.#ledgers.get(key) ?? new Ledger({ topicId, partition }, (text) => this.fault(text));
      this.#ledgers.set(key, ledger);
      return ledger;
    });
  }
}
