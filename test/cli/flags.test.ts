import { describe, expect, it } from 'vitest';
import { UsageError } from '../../src/cli/command.ts';
import { describeFlags, type Flags, namingVariable, parseCommandLine, parseFlags } from '../../src/cli/flags.ts';
import { closest } from '../../src/common/closest.ts';

const flags = {
  listen: { value: 'HOST:PORT', help: 'Where to listen.', defaultText: 'here' },
  'node-id': { value: 'N', help: 'The id.' },
  insecure: { help: 'Allow it.' },
} as const satisfies Flags;

describe('parseFlags', () => {
  it('takes flags first, then variables', () => {
    const env = { SHOAL_LISTEN: 'env', SHOAL_NODE_ID: '7', SHOAL_INSECURE: 'true' };
    expect(parseFlags(flags, ['--listen', 'flag'], env)).toEqual({ listen: 'flag', 'node-id': '7', insecure: true });
    expect(parseFlags(flags, ['--node-id=3', '--insecure'], {})).toEqual({ 'node-id': '3', insecure: true });
    expect(parseFlags(flags, [], { SHOAL_INSECURE: 'no' })).toMatchObject({ insecure: false });
  });

  it('takes a variable that is set to nothing as not set, and no flag without a value', () => {
    const env = { SHOAL_LISTEN: '', SHOAL_NODE_ID: '', SHOAL_INSECURE: '' };
    expect(parseFlags(flags, [], env)).toEqual({ listen: undefined, 'node-id': undefined, insecure: false });
    expect(() => parseFlags(flags, ['--listen', ''], {})).toThrow('--listen needs a value: --listen HOST:PORT');
  });

  it.each([
    [['--liste', 'x'], 'unknown flag --liste; did you mean --listen?'],
    [['--elephant'], 'unknown flag --elephant'],
    [['--listen'], '--listen needs a value: --listen HOST:PORT'],
    [['--listen', '--insecure'], '--listen needs a value: --listen HOST:PORT'],
    [['-x'], 'unknown flag --x'],
    [['--insecure=yes'], '--insecure takes no value'],
    [['there'], 'unexpected argument there'],
  ])('refuses %j', (args, message) => {
    expect(() => parseFlags(flags, args, {})).toThrow(UsageError);
    expect(() => parseFlags(flags, args, {})).toThrow(message);
  });

  it('takes flags and words in any order, and values that begin with a dash', () => {
    const values = { listen: 'x', 'node-id': '-1', insecure: true };
    for (const args of [
      ['--listen', 'x', 'topic', '--node-id', '-1', '0', '--insecure', '-5'],
      ['topic', '0', '-5', '--insecure', '--node-id=-1', '--listen=x'],
      ['--insecure', '--listen', 'x', '--node-id', '-1', '--', 'topic', '0', '-5'],
    ]) {
      expect(parseCommandLine(flags, args, {})).toEqual({ words: ['topic', '0', '-5'], values });
    }
    expect(parseCommandLine(flags, ['--', '--listen'], {}).words).toEqual(['--listen']);
  });

  it('names the variable where the value came from it', () => {
    const env = { SHOAL_NODE_ID: 'x', SHOAL_LISTEN: '' };
    expect(namingVariable('--node-id is "x"', [], env)).toBe('SHOAL_NODE_ID is "x"');
    expect(namingVariable('--node-id is "y"', ['--node-id', 'y'], env)).toBe('--node-id is "y"');
    expect(namingVariable('--node-id is "y"', ['--node-id=y'], env)).toBe('--node-id is "y"');
    expect(namingVariable('--listen is odd', [], env)).toBe('--listen is odd');
    expect(namingVariable('a file is needed', [], env)).toBe('a file is needed');
  });

  it('refuses a switch whose variable is neither true nor false', () => {
    expect(() => parseFlags(flags, [], { SHOAL_INSECURE: 'maybe' })).toThrow('SHOAL_INSECURE is "maybe"');
  });

  it('describes each flag with its variable, in at most 80 columns', () => {
    const text = describeFlags(flags);
    expect(text).toContain('  --listen HOST:PORT\n      Where to listen. Default: here. (SHOAL_LISTEN)');
    expect(text).toContain('  --insecure\n      Allow it. (SHOAL_INSECURE)');
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('closest', () => {
  it('finds the word that was meant, or none', () => {
    expect(closest('sevre', ['serve', 'dump'])).toBe('serve');
    expect(closest('dmup', ['serve', 'dump'])).toBeUndefined();
    expect(closest('dum', ['serve', 'dump'])).toBe('dump');
    expect(closest('xylophone', ['serve', 'dump'])).toBeUndefined();
  });
});
