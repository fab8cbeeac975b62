/** The direction of imports: each folder of src imports only from the folders listed for it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

const base = ['common'];
const parts = [...base, 'protocol', 'record', 'worker', 'storage', 'coordinator'];
/** Folder → the folders it may import from (itself always). Files directly in src are the package's entry points. */
const allowed: Record<string, readonly string[]> = {
  common: [],
  protocol: base,
  record: [...base, 'protocol'],
  worker: [...base, 'protocol', 'record'],
  storage: base,
  coordinator: [...base, 'protocol'],
  produce: parts,
  fetch: parts,
  share: parts,
  group: [...base, 'protocol', 'coordinator'],
  engine: [...parts, 'produce', 'fetch', 'share'],
  server: [...base, 'protocol', 'coordinator', 'group', 'engine'],
  // '' for src/kernel.ts: `shoal dump` asks the kernel as any user of the package does.
  cli: [...parts, 'produce', 'fetch', 'share', 'group', 'engine', 'server', ''],
  '': [...parts, 'produce', 'fetch', 'share', 'group', 'engine', 'server', 'cli'],
};

const importOf = /(?:^|\n)\s*(?:import|export)\b[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/g;

function folderOf(file: string): string {
  const path = relative(src, file).split('/');
  return path.length === 1 ? '' : path[0]!;
}

const files = readdirSync(src, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => join(entry.parentPath, entry.name));

/** Every relative import of a file, as the folder it leads to. */
function importedFolders(file: string): { specifier: string; folder: string }[] {
  return [...readFileSync(file, 'utf8').matchAll(importOf)]
    .map((match) => match[1] ?? match[2]!)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => ({ specifier, folder: folderOf(resolve(file, '..', specifier)) }));
}

describe('layering', () => {
  it('sees the source and its imports', () => {
    expect(files.length).toBeGreaterThan(10);
    expect(files.flatMap(importedFolders).length).toBeGreaterThan(10);
  });

  it('imports only in the allowed direction', () => {
    const wrong = files.flatMap((file) => {
      const folder = folderOf(file);
      const mayImport = allowed[folder];
      if (!mayImport) return [`${relative(src, file)}: folder "${folder}" is not in the layering table`];
      return importedFolders(file)
        .filter((to) => to.folder !== folder && !mayImport.includes(to.folder))
        .map((to) => `${relative(src, file)} imports ${to.specifier}`);
    });
    expect(wrong).toEqual([]);
  });
});
