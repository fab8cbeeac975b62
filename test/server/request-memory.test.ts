import { describe, expect, it } from 'vitest';
import { type MemoryHolder, RequestMemory } from '../../src/server/request-memory.ts';

class Holder implements MemoryHolder {
  readonly memory: RequestMemory;
  bytes = 0;
  reading = true;

  constructor(memory: RequestMemory) {
    this.memory = memory;
  }

  receive(bytes: number): void {
    this.bytes += bytes;
    this.memory.hold(bytes);
    this.resumeReading();
  }

  work(bytes: number): void {
    this.memory.work(this, bytes);
  }

  worked(bytes: number): void {
    this.bytes -= bytes;
    this.memory.worked(bytes);
    this.resumeReading();
  }

  resumeReading(): void {
    this.reading = this.memory.mayRead(this, this.bytes);
  }
}

const made = (count: number) => {
  const memory = new RequestMemory({ limitBytes: 1000, reserveBytes: 50 });
  return { memory, holders: Array.from({ length: count }, () => new Holder(memory)) };
};

describe('RequestMemory', () => {
  it('holds back those above their reserve when the limit is reached, and lets the others go on', () => {
    const { memory, holders } = made(3);
    const [producer, consumer, newcomer] = holders as [Holder, Holder, Holder];
    producer.receive(1000);
    producer.work(1000);
    producer.resumeReading();
    expect(producer.reading).toBe(false);
    consumer.receive(40);
    newcomer.receive(0);
    expect([consumer.reading, newcomer.reading]).toEqual([true, true]);
    consumer.receive(20);
    expect(consumer.reading).toBe(false);
    expect(memory.waiting).toBe(2);
    producer.worked(1000);
    expect(holders.map(({ reading }) => reading)).toEqual([true, true, true]);
    expect(memory.waiting).toBe(0);
  });

  it('lets one begun frame finish at a time when only begun frames hold the memory', () => {
    const { holders } = made(3);
    for (const holder of holders) holder.receive(400);
    // The third took the last room; the oldest of those that must wait may go on, so that somebody gets an answer.
    const readers = () => holders.filter(({ reading }) => reading).length;
    holders[0]!.resumeReading();
    holders[1]!.resumeReading();
    expect(readers()).toBe(1);
    const finishing = holders.find(({ reading }) => reading)!;
    finishing.receive(300);
    expect(finishing.reading).toBe(true);
    finishing.work(700);
    finishing.resumeReading();
    expect(finishing.reading).toBe(false);
    finishing.worked(700);
    expect(holders.every(({ reading }) => reading)).toBe(true);
  });

  it('gives the turn of a connection that is gone to the next one', () => {
    const { memory, holders } = made(3);
    for (const holder of holders) holder.receive(600);
    for (const holder of holders) holder.resumeReading();
    const gone = holders.find(({ reading }) => reading)!;
    memory.leave(gone);
    memory.release(gone.bytes);
    expect(holders.filter((holder) => holder !== gone && holder.reading)).toHaveLength(1);
  });
});
