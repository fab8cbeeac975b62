/** The part of WebAssembly's JavaScript interface that Node 20 has and its types lack. Internal: no public type names it. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: boolean });
    readonly buffer: ArrayBuffer | SharedArrayBuffer;
  }
  class Instance {
    constructor(module: Module, imports: { env: { memory: Memory; abort: (...args: number[]) => never } });
    readonly exports: unknown;
  }
}
