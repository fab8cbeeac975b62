// The record kernel's exports. Filled in by the kernel's modules.
export function version(): i32 { return 1; }
