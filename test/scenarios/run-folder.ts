/** Runs every scenario file of a folder and of its `extra/`, and says what came of each. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Differences, describedFields, type Json, type Level } from './compare.ts';
import { extraKinds } from './extra-scenarios.ts';
import { readJson } from './read-json.ts';
import { runSharePartitionScenario } from './share-partition-scenario.ts';

export interface ScenarioOutcome {
  /** File, and the case's name or number in it. */
  readonly name: string;
  /** Empty: passed. */
  readonly differences: readonly string[];
}

function runOne(name: string, run: (differences: Differences) => void): ScenarioOutcome {
  const differences = new Differences();
  try {
    run(differences);
    if (differences.compared === 0) differences.add('nothing was compared');
  } catch (error) {
    differences.add(`could not be run: ${error instanceof Error ? error.message : String(error)}`);
  }
  return { name, differences: differences.list };
}

function runFile(path: string, name: string, level: Level): ScenarioOutcome[] {
  let json: Json;
  try {
    json = readJson(path);
  } catch (error) {
    return [{ name, differences: [(error as Error).message] }];
  }
  if (json.kind === 'share-partition')
    return [runOne(name, (differences) => runSharePartitionScenario(json, level, differences))];
  const runCase = extraKinds[json.kind];
  if (!runCase || !Array.isArray(json.cases) || json.cases.length === 0) {
    return [{ name, differences: [runCase ? 'has no cases' : `unknown kind ${json.kind}`] }];
  }
  return (json.cases as Json[]).map((one, index) =>
    runOne(`${name} ${one?.name ?? index}`, (differences) => {
      describedFields(json, ['kind', 'cases']);
      runCase(one, differences);
    }),
  );
}

/** @throws when the folder holds no scenario file, so that a wrong path never passes. */
export function runFolder(folder: string, level: Level): ScenarioOutcome[] {
  const here = (sub: string): string[] => {
    try {
      return readdirSync(join(folder, sub))
        .map((file) => join(sub, file))
        .filter((file) => file.endsWith('.json') && statSync(join(folder, file)).isFile())
        .sort();
    } catch (error) {
      if (sub !== '' && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  };
  const files = [...here(''), ...here('extra')];
  if (files.length === 0) throw new Error(`no scenario file (*.json) in ${folder}`);
  return files.flatMap((file) => runFile(join(folder, file), file, level));
}
