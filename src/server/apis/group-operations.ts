/** What a client may do to a group: everything, since there are no ACLs. As Kafka answers without an authorizer. */

/** Kafka's operation codes: READ, DELETE, DESCRIBE, DESCRIBE_CONFIGS, ALTER_CONFIGS. */
const GROUP_OPERATIONS = [3, 6, 8, 10, 11].reduce((bits, operation) => bits | (1 << operation), 0);
/** "Not asked for." */
const OMITTED = -(2 ** 31);

export function authorizedGroupOperations(asked: boolean): number {
  return asked ? GROUP_OPERATIONS : OMITTED;
}
