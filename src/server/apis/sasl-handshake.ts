/**
 * SaslHandshake: the listener is PLAINTEXT, on which Kafka knows the request, too, and answers that this is no place for
 * it. The client then reports a wrong security protocol instead of a lost connection.
 */
import { Errors } from '../../common/errors.ts';
import { saslHandshake } from '../../protocol/messages/sasl-handshake.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

export function saslHandshakeHandler(): ApiHandler {
  return apiHandler<typeof saslHandshake>({
    api: saslHandshake,
    handle: async () => ({ errorCode: Errors.ILLEGAL_SASL_STATE, mechanisms: [] }),
    errorResponse: (errorCode) => ({ errorCode, mechanisms: [] }),
  });
}
