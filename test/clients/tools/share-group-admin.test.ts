/** Share groups through Kafka's own administration: the Java Admin client and kafka-share-groups. */
import { expect, it } from 'vitest';
import { runScenario } from '../groups/scenario.ts';
import { javaProgram } from '../install.ts';

it('describes, lists, moves and deletes share groups and their offsets', { timeout: 180_000 }, async () => {
  expect(await runScenario(javaProgram('4.4.0', 'ShareGroupAdmin'), 'admin')).toEqual({
    state: 'Stable 1',
    assigned: '2',
    alterWithMembers: 'GroupNotEmptyException',
    deleteWithMembers: 'GroupNotEmptyException',
    read: '{0=10+0, 1=10+0}',
    altered: '{0=3+7, 1=10+0}',
    readAgain: '{0=10+0, 1=10+0}',
    toolList: 'workers',
    toolReset: 'GROUP TOPIC PARTITION NEW-OFFSET | workers jobs 0 0 | workers jobs 1 0',
    toolDescribe: 'GROUP TOPIC PARTITION START-OFFSET LAG | workers jobs 0 0 10 | workers jobs 1 0 10',
    toolDeleteOffsets: 'TOPIC STATUS | jobs Successful',
    deleted: '{}',
    groups: '0',
  });
});
