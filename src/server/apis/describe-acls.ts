/** DescribeAcls: there is no authorizer, and Kafka's answer says so. */
import { Errors } from '../../common/errors.ts';
import { describeAcls } from '../../protocol/messages/describe-acls.ts';
import { type ApiHandler, apiHandler } from '../api-handler.ts';

export function describeAclsHandler(): ApiHandler {
  return apiHandler<typeof describeAcls>({
    api: describeAcls,
    handle: async () => ({
      errorCode: Errors.SECURITY_DISABLED,
      errorMessage: 'ACLs are not built: everybody may do everything',
      resources: [],
    }),
    errorResponse: (errorCode) => ({ errorCode, resources: [] }),
  });
}
