/** Our signature against AWS's published example, and against the double's verifier for what the hot requests send. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SigV4Signer, UNSIGNED_PAYLOAD } from '../../../src/storage/s3/sigv4.ts';

/** The credentials and the date of the examples in "Authenticating Requests: Using the Authorization Header". */
const credentials = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const nowMs = Date.UTC(2013, 4, 24);
const signer = () => new SigV4Signer('examplebucket.s3.amazonaws.com', 'us-east-1');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function signatureOf(headers: Record<string, string>): string {
  return /Signature=([0-9a-f]{64})$/.exec(headers.authorization!)![1]!;
}

describe('SigV4Signer', () => {
  it("signs AWS's example of a ranged GET", () => {
    const request = {
      method: 'GET',
      path: '/test.txt',
      query: '',
      headers: { range: 'bytes=0-9' },
      payloadHash: sha256(''),
    };
    const headers = signer().sign(request, credentials, nowMs);
    expect(signatureOf(headers)).toBe('f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41');
    expect(headers.authorization).toContain('SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,');
    expect(headers['x-amz-date']).toBe('20130524T000000Z');
  });

  it("signs AWS's example of a list with a query", () => {
    const request = {
      method: 'GET',
      path: '/',
      query: 'max-keys=2&prefix=J',
      headers: {},
      payloadHash: sha256(''),
    };
    expect(signatureOf(signer().sign(request, credentials, nowMs))).toBe(
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    );
  });

  it('derives a new key for a new day, other credentials and a token, and reuses none of them wrongly', () => {
    const request = { method: 'GET', path: '/k', query: '', headers: {}, payloadHash: UNSIGNED_PAYLOAD };
    const reused = signer();
    const variants: [typeof credentials & { sessionToken?: string }, number][] = [
      [credentials, nowMs],
      [credentials, nowMs + 86_400_000],
      [{ ...credentials, secretAccessKey: 'another' }, nowMs],
      [{ ...credentials, sessionToken: 'token' }, nowMs],
      [credentials, nowMs],
      [credentials, nowMs + 1000],
    ];
    const signatures = variants.map(([who, when]) => signatureOf(reused.sign(request, who, when)));
    const fresh = variants.map(([who, when]) => signatureOf(signer().sign(request, who, when)));
    expect(signatures).toEqual(fresh);
    expect(new Set(signatures).size).toBe(5);
    expect(reused.sign(request, variants[3]![0], nowMs)['x-amz-security-token']).toBe('token');
  });
});
