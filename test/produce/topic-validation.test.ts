import { describe, expect, it } from 'vitest';
import { parseTopicConfig } from '../../src/common/topic-config.ts';
import { TopicValidation } from '../../src/produce/topic-validation.ts';

describe('validation options', () => {
  it('are one object for all batches of a topic and millisecond, and another for the next', () => {
    const validation = new TopicValidation();
    const [config, other] = ['gzip', 'lz4'].map((type) => parseTopicConfig({ 'compression.type': type }));
    const first = validation.optionsFor(config!, 5);
    expect(validation.optionsFor(other!, 5)).toMatchObject({ compressionType: 'lz4', nowMs: 5 });
    expect(validation.optionsFor(config!, 5)).toBe(first);
    expect(validation.optionsFor(config!, 6)).toEqual({ ...first, nowMs: 6 });
    expect(validation.optionsFor(config!, 5)).toEqual(first);
  });
});
