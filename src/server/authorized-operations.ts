/** What a client may do: everything, since there are no ACLs. As Kafka answers without an authorizer. */

/** By Kafka's codes: READ 3, WRITE 4, CREATE 5, DELETE 6, ALTER 7, DESCRIBE 8, CLUSTER_ACTION 9, and so on. */
const OPERATIONS = {
  topic: [3, 4, 5, 6, 7, 8, 10, 11],
  group: [3, 6, 8, 10, 11],
  cluster: [5, 7, 8, 9, 10, 11, 12],
} as const;

/** "Not asked for." */
const OMITTED = -(2 ** 31);

/** A bit per operation. */
export function authorizedOperations(resource: keyof typeof OPERATIONS, asked: boolean): number {
  return asked ? OPERATIONS[resource].reduce<number>((bits, operation) => bits | (1 << operation), 0) : OMITTED;
}
