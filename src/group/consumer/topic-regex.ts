/**
 * Subscriptions by regular expression (KIP-848), in RE2's syntax as with Kafka. Clients send them, so matching must take
 * linear time whatever they contain: JavaScript's own engine backtracks and would let one client stop the broker.
 */
import { RE2JS } from 're2js';

/** Characters; beyond it nothing but mischief is to be expected. */
const MAX_REGEX_LENGTH = 4096;

/** What a regular expression lets through: whole names. undefined when it is none. */
export function compileTopicRegex(regex: string): ((topic: string) => boolean) | undefined {
  if (regex.length > MAX_REGEX_LENGTH) return undefined;
  try {
    const pattern = RE2JS.compile(regex);
    return (topic) => pattern.matches(topic);
  } catch {
    return undefined;
  }
}
