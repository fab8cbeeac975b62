/**
 * Bytes that are no Kafka message: truncated, contradicting themselves, or claiming more than the frame holds. Whoever
 * reads a socket closes that connection for it; there is no request to answer.
 */
export class MalformedError extends Error {
  override readonly name = 'MalformedError';
}
