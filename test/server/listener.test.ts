import { describe, expect, it } from 'vitest';
import {
  advertisedEndpoint,
  checkExposure,
  checkListener,
  formatEndpoint,
  ListenError,
  parseEndpoint,
} from '../../src/server/listener.ts';

describe('listener', () => {
  it.each([
    ['127.0.0.1:9092', { host: '127.0.0.1', port: 9092 }],
    ['[::1]:0', { host: '::1', port: 0 }],
    ['broker.example:65535', { host: 'broker.example', port: 65535 }],
  ])('reads %s and writes it back', (text, endpoint) => {
    expect(parseEndpoint(text)).toEqual(endpoint);
    expect(formatEndpoint(endpoint)).toBe(text);
  });

  it.each(['', '9092', ':9092', 'host', 'host:', 'host:65536', 'host:-1', '::1:9092', 'a b:c'])(
    'refuses "%s"',
    (text) => {
      expect(() => parseEndpoint(text)).toThrow(ListenError);
    },
  );

  it('listens on loopback only, unless told that it may', () => {
    for (const host of ['127.0.0.1', '127.8.8.8', '::1', 'localhost']) {
      expect(() => checkListener({ host, port: 1 }, undefined, false)).not.toThrow();
    }
    expect(() => checkListener({ host: '10.0.0.1', port: 1 }, undefined, false)).toThrow('--insecure');
    expect(() => checkListener({ host: '10.0.0.1', port: 1 }, undefined, true)).not.toThrow();
    expect(() => checkListener({ host: '127.0.0.1.evil.example', port: 1 }, undefined, false)).toThrow('--insecure');
  });

  it('wants an address that clients can use when it listens everywhere', () => {
    expect(() => checkListener({ host: '0.0.0.0', port: 1 }, undefined, true)).toThrow('--advertised-listener');
    expect(() => checkListener({ host: '0.0.0.0', port: 1 }, { host: 'me', port: 1 }, true)).not.toThrow();
    expect(() => checkListener({ host: '127.0.0.1', port: 1 }, { host: '::', port: 9 }, true)).toThrow(
      '[::]:9 is no address that clients can connect to',
    );
    expect(() => checkExposure({ host: '0.0.0.0', port: 1 }, true)).not.toThrow();
    expect(advertisedEndpoint({ host: '0.0.0.0', port: 77 }, { host: 'me', port: 0 })).toEqual({
      host: 'me',
      port: 77,
    });
  });
});
