/** Instances of the WebAssembly modules that compression libraries carry, made at once instead of by a promise. */
import { readFileSync } from 'node:fs';

/** A compiled module; opaque. */
export type LibraryModule = object;

export interface LibraryInstance {
  readonly exports: object;
}

/** The part of the global that is used here; Node's types leave it out. */
interface WebAssemblyGlobal {
  readonly Module: new (bytes: Uint8Array) => LibraryModule;
  readonly Instance: new (module: LibraryModule, imports: object) => LibraryInstance;
}

const { WebAssembly: webAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyGlobal };

export function compileLibrary(path: string): LibraryModule {
  return new webAssembly.Module(readFileSync(path));
}

export function instantiateLibrary(module: LibraryModule, imports: object): LibraryInstance {
  return new webAssembly.Instance(module, imports);
}
