/** Runs a traffic program that is written in TypeScript, from its arguments to its report. */
import { type TrafficArguments, totalRecords, trafficArguments } from './arguments.ts';
import { Pace } from './pace.ts';
import { Verifier } from './verifier.ts';

export interface Traffic {
  /** The client library's. */
  readonly version: string;
  /** Says `ready`, sends everything, and returns how many records that was. */
  readonly produce: (traffic: TrafficArguments, pace: Pace) => Promise<number>;
  /** Reads until all is read, or until the marks are past where they were not at the start; says `ready` the first time. */
  readonly consume: (traffic: TrafficArguments, verifier: Verifier, pace: Pace, isFirst: boolean) => Promise<void>;
}

export async function runTraffic({ version, produce, consume }: Traffic): Promise<void> {
  const traffic = trafficArguments(process.argv.slice(2));
  const pace = new Pace(traffic.marks, totalRecords(traffic));
  if (traffic.mode === 'produce') {
    process.stdout.write(`${JSON.stringify({ version, records: await produce(traffic, pace) })}\n`);
  } else {
    const verifier = new Verifier(traffic);
    for (let isFirst = true; verifier.records < verifier.total; isFirst = false)
      await consume(traffic, verifier, pace, isFirst);
    process.stdout.write(`${verifier.report(version)}\n`);
  }
  pace.close();
}
