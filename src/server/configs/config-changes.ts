/** From what a request asks for to the changes of one target, checked. Pure; changes nothing itself. */
import { type ConfigDefinition, normalizedValue, splitList, unknownConfig } from '../../common/config-definition.ts';
import { standingTwice } from '../../common/duplicates.ts';
import { ApiError } from '../../common/errors.ts';
import type { ConfigTarget } from './config-target.ts';

const ConfigOperation = { set: 0, delete: 1, append: 2, subtract: 3 } as const;

export interface ConfigAlteration {
  readonly name: string;
  /** One of `ConfigOperation`, when the request is well-formed. */
  readonly configOperation: number;
  readonly value: string | null;
}

type Changes = Record<string, string | null>;

/** IncrementalAlterConfigs (KIP-339). @throws ApiError INVALID_REQUEST, INVALID_CONFIG */
export function incrementalChanges(target: ConfigTarget, alterations: readonly ConfigAlteration[]): Changes {
  requireOnce(alterations.map(({ name }) => name));
  return checkedTogether(target, Object.fromEntries(alterations.map((one) => [one.name, changeOf(target, one)])));
}

/** AlterConfigs: what is not named is removed. @throws ApiError INVALID_REQUEST, INVALID_CONFIG */
export function replacingChanges(
  target: ConfigTarget,
  configs: readonly { readonly name: string; readonly value: string | null }[],
): Changes {
  const removed = Object.fromEntries(Object.keys(target.stored).map((name) => [name, null]));
  const { set } = ConfigOperation;
  requireOnce(configs.map(({ name }) => name));
  const changed = configs.map((config) => [config.name, changeOf(target, { ...config, configOperation: set })]);
  return checkedTogether(target, { ...removed, ...Object.fromEntries(changed) });
}

function requireOnce(names: readonly string[]): void {
  const [twice] = standingTwice(names);
  if (twice !== undefined) throw invalidRequest(`${twice} stands twice in the request for the same resource`);
}

/** The value to store, or null for none. */
function changeOf(target: ConfigTarget, { name, configOperation, value }: ConfigAlteration): string | null {
  const definition = target.definitions.get(name);
  if (configOperation === ConfigOperation.delete) {
    // What was stored under a name that is not known (any more) can still be taken away.
    if (!definition && !Object.hasOwn(target.stored, name)) throw unknown(target, name);
    return null;
  }
  if (!definition) throw unknown(target, name);
  if (value === null) throw invalidRequest(`${name}: a value is needed; use the operation delete for the default`);
  return setting(target, definition, newValue(target, definition, configOperation, value));
}

function newValue(target: ConfigTarget, definition: ConfigDefinition, operation: number, value: string): string {
  switch (operation) {
    case ConfigOperation.set:
      return value;
    case ConfigOperation.append:
      return [...new Set([...currentList(target, definition), ...splitList(value)])].join(',');
    case ConfigOperation.subtract: {
      const without = new Set(splitList(value));
      return currentList(target, definition)
        .filter((element) => !without.has(element))
        .join(',');
    }
    default:
      throw invalidRequest(`${definition.name}: there is no config operation ${operation}`);
  }
}

function currentList(target: ConfigTarget, definition: ConfigDefinition): string[] {
  const { name, type, defaultValue } = definition;
  if (type !== 'list') throw invalidConfig(`${name} is no list, so that nothing can be appended or subtracted; set it`);
  return splitList(target.stored[name] ?? target.inherited(definition)[0]?.value ?? defaultValue);
}

/** Setting a fixed config to the value that it has anyway changes nothing: tools hand back all that they were told. */
function setting(target: ConfigTarget, definition: ConfigDefinition, value: string): string | null {
  const { name } = definition;
  const problem = definition.problem(value);
  if (problem !== undefined) throw invalidConfig(`${name}: ${problem}`);
  const normalized = normalizedValue(definition, value);
  const fixed = target.fixed(definition);
  if (fixed === undefined) {
    const refusal = target.refusal(definition, normalized);
    if (refusal !== undefined) throw invalidConfig(`${name}: ${refusal}`);
    return normalized;
  }
  const current = target.inherited(definition)[0]?.value ?? definition.defaultValue;
  if (normalized === normalizedValue(definition, current)) return null;
  throw invalidConfig(`${name} is read-only and stays ${JSON.stringify(current)}. ${fixed}`);
}

/** Without what would change nothing. */
function checkedTogether(target: ConfigTarget, changes: Changes): Changes {
  const after = Object.entries({ ...target.stored, ...changes }).filter(([, value]) => value !== null);
  const problem = target.problemTogether(Object.fromEntries(after) as Record<string, string>);
  if (problem !== undefined) throw invalidConfig(problem);
  return Object.fromEntries(Object.entries(changes).filter(([name, value]) => value !== (target.stored[name] ?? null)));
}

function unknown({ kind, definitions }: ConfigTarget, name: string): ApiError {
  return invalidConfig(unknownConfig(kind, name, definitions));
}

const invalidConfig = (message: string): ApiError => new ApiError('INVALID_CONFIG', message);
const invalidRequest = (message: string): ApiError => new ApiError('INVALID_REQUEST', message);
