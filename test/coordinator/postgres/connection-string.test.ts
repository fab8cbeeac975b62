import { describe, expect, it } from 'vitest';
import { checkConnectionString, takeOptions } from '../../../src/coordinator/postgres/connection-string.ts';

const refusal = (text: string): string => {
  try {
    checkConnectionString(text);
  } catch (error) {
    return (error as Error).message;
  }
  return 'accepted';
};

describe('checkConnectionString', () => {
  it.each([
    'postgres://shoal@db/shoal',
    'postgresql://shoal:p%40ss@db:5432/shoal?sslmode=verify-full&sslrootcert=/ca.pem',
    'POSTGRES://db/shoal?user=shoal&password=secret&options=-c%20geqo%3Doff',
    'postgres://shoal@db/shoal?sslmode=require&channel_binding=require&pgbouncer=true',
  ])('takes %s', (text) => expect(refusal(text)).toBe('accepted'));

  it.each([
    'postgres:shoal:secret@db/shoal',
    'postgres:/shoal:secret@db/shoal',
    'postgres://shoal:se/cret@db/shoal',
    'postgres://shoal:secret@db:99999/shoal',
    'mysql://shoal:secret@db/shoal',
    'secret',
  ])('refuses %s as no connection string', (text) => {
    expect(refusal(text)).toBe('postgres://USER@HOST:PORT/DATABASE expected');
  });

  it('refuses a misspelt parameter, which would leave a connection without TLS', () => {
    for (const name of ['sslmod', 'sslMode', 'slmode', 'ssl_mode']) {
      const message = `unknown parameter ${name} in the connection string; did you mean sslmode?`;
      expect(refusal(`postgres://shoal:secret@db/shoal?${name}=verify-full`)).toBe(message);
    }
    expect(refusal('postgres://shoal@db/shoal?sslmode=secret')).toBe(
      'sslmode in the connection string is one of disable, no-verify, prefer, require, verify-ca, verify-full',
    );
  });
});

describe('takeOptions', () => {
  it('takes them out, all of them', () => {
    const text = 'postgres://shoal@db/shoal?options=-c%20geqo%3Doff&sslmode=disable&options=-c%20jit%3Doff';
    expect(takeOptions(text)).toEqual({
      connectionString: 'postgres://shoal@db/shoal?sslmode=disable',
      options: '-c geqo=off -c jit=off ',
    });
    const plain = 'postgres://shoal@db/shoal';
    expect(takeOptions(plain)).toEqual({ connectionString: plain, options: '' });
  });
});
