import { describe, expect, it } from 'vitest';
import {
  normalizedTopicConfigs,
  parseTopicConfig,
  topicConfigDefinitions,
  topicConfigProblem,
} from '../../src/common/topic-config.ts';
import { collisionKey, topicNameProblem } from '../../src/common/topic-name.ts';

describe('topic configs', () => {
  it('have defaults that pass their own checks', () => {
    expect(topicConfigDefinitions.size).toBeGreaterThan(30);
    for (const { name, defaultValue, problem } of topicConfigDefinitions.values()) {
      expect(problem(defaultValue), name).toBeUndefined();
    }
  });

  it('are read with their defaults', () => {
    expect(parseTopicConfig({})).toEqual({
      maxMessageBytes: 1_048_588,
      compressionType: 'producer',
      compressionLevel: undefined,
      timestampType: 0,
      timestampBeforeMaxMs: Number.POSITIVE_INFINITY,
      timestampAfterMaxMs: 3_600_000,
      compacted: false,
      deadLetterQueueEnabled: false,
    });
  });

  it('are read as they were set', () => {
    const configs = {
      'max.message.bytes': ' 2000 ',
      'compression.type': 'zstd',
      'message.timestamp.type': 'LogAppendTime',
      'message.timestamp.before.max.ms': '5',
      'cleanup.policy': 'compact, delete',
    };
    expect(topicConfigProblem(configs)).toBeUndefined();
    expect(parseTopicConfig(configs)).toMatchObject({
      maxMessageBytes: 2000,
      compressionType: 'zstd',
      timestampType: 1,
      timestampBeforeMaxMs: 5,
      compacted: true,
    });
  });

  it.for([
    ['gzip', '9', 9],
    ['gzip', undefined, -1],
    ['zstd', '-131072', -131_072],
    ['zstd', undefined, 3],
    ['lz4', '17', undefined],
    ['snappy', '9', undefined],
    ['producer', '9', undefined],
  ] as const)('compression.type=%s at level %s compresses at %s', ([type, level, expected]) => {
    const levels =
      level === undefined || type === 'snappy' || type === 'producer' ? {} : { [`compression.${type}.level`]: level };
    const others = { 'compression.gzip.level': '1', 'compression.zstd.level': '1' };
    delete others[`compression.${type}.level` as keyof typeof others];
    const configs = { 'compression.type': type, ...others, ...levels };
    expect(topicConfigProblem(configs)).toBeUndefined();
    expect(parseTopicConfig(configs).compressionLevel).toBe(expected);
  });

  it.for([
    ['no.such.config', '1', 'there is no such topic config'],
    ['max.mesage.bytes', '1', 'did you mean max.message.bytes'],
    ['max.message.bytes', '-1', 'outside 0'],
    ['max.message.bytes', '2147483648', 'outside 0'],
    ['max.message.bytes', 'many', 'not an integer'],
    ['max.message.bytes', '', 'not an integer'],
    ['compression.type', 'brotli', 'not one of'],
    ['compression.gzip.level', '0', 'outside 1 to 9'],
    ['compression.gzip.level', '10', 'outside 1 to 9'],
    ['compression.zstd.level', '23', 'outside -131072 to 22'],
    ['compression.zstd.level', '-131073', 'outside -131072 to 22'],
    ['compression.lz4.level', '0', 'outside 1 to 17'],
    ['compression.lz4.level', '18', 'outside 1 to 17'],
    ['cleanup.policy', 'delete,forget', '"forget" is not one of'],
    ['cleanup.policy', 'delete,', '"" is not one of'],
    ['cleanup.policy', ' , ', '"" is not one of'],
    ['leader.replication.throttled.replicas', '0', 'neither'],
    ['message.timestamp.type', 'createtime', 'not one of'],
    ['retention.ms', '9223372036854775808', 'outside'],
    ['min.cleanable.dirty.ratio', '1.5', 'not a number from 0 to 1'],
    ['diskless.enable', 'false', 'every topic here is diskless'],
    ['preallocate', 'yes', 'neither true nor false'],
  ] as const)('%s=%s is refused: %s', ([name, value, text]) => {
    expect(topicConfigProblem({ [name]: value })).toMatch(new RegExp(`^${name}: .*${text}`));
  });
});

it('are written as Kafka writes them', () => {
  const configs = { 'retention.ms': ' +5 ', 'cleanup.policy': ' delete,delete ', 'diskless.enable': 'TRUE' };
  expect(normalizedTopicConfigs(configs)).toEqual({
    'retention.ms': '5',
    'cleanup.policy': 'delete',
    'diskless.enable': 'true',
  });
});

describe('topic names', () => {
  it.for(['a', 'A-z_0.9', '...', 'x'.repeat(249)])('%s is legal', (name) => {
    expect(topicNameProblem(name)).toBeUndefined();
  });

  it.for([
    ['', 'empty'],
    ['.', 'reserved'],
    ['..', 'reserved'],
    ['x'.repeat(250), '250 characters'],
    ['a/b', 'not one of'],
    ['ünï', 'not one of'],
    ['a\n', 'not one of'],
  ] as const)('%j is not', ([name, text]) => {
    expect(topicNameProblem(name)).toContain(text);
  });

  it('collide when they differ in dot and underscore only', () => {
    expect(collisionKey('a.b_c')).toBe(collisionKey('a_b.c'));
    expect(collisionKey('a.b')).not.toBe(collisionKey('a-b'));
  });
});
