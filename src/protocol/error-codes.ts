/**
 * Finds the error codes of a response, wherever in it they stand: what Kafka counts as a request's errors. Compiled once
 * from the response's table, so that counting looks at nothing that has no code.
 */
import type { Fields } from './schema.ts';

/** Calls `visit` with every code of a response; one that was left out is its default, 0. */
export type ErrorCodeVisitor = (response: unknown, visit: (code: number) => void) => void;
type Struct = Readonly<Record<string, unknown>>;

export function errorCodeVisitor(fields: Fields): ErrorCodeVisitor {
  return compile(fields) ?? (() => {});
}

function compile(fields: Fields): ErrorCodeVisitor | undefined {
  const visitors = Object.entries(fields).flatMap(([name, { type }]): ErrorCodeVisitor[] => {
    if (name === 'errorCode') return [(value, visit) => visit(((value as Struct)[name] as number | undefined) ?? 0)];
    const isArray = type.kind === 'array';
    const inner = isArray ? type.element : type;
    const visitInner = inner.kind === 'struct' ? compile(inner.fields) : undefined;
    if (!visitInner) return [];
    return [
      (value, visit) => {
        const child = (value as Struct)[name];
        if (child === undefined || child === null) return;
        if (isArray) for (const one of child as readonly unknown[]) visitInner(one, visit);
        else visitInner(child, visit);
      },
    ];
  });
  if (visitors.length === 0) return undefined;
  return (value, visit) => {
    for (const visitor of visitors) visitor(value, visit);
  };
}
