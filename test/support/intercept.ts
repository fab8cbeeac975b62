/** Puts some methods of a real part aside for a test's own; everything else goes to the part as it is. */
export function intercept<T extends object>(target: T, overrides: Partial<T>): T {
  return new Proxy(target, {
    get(part, name) {
      if (name in overrides) return Reflect.get(overrides, name);
      const value: unknown = Reflect.get(part, name);
      // Private fields live on the part itself, so its methods must not see the proxy as `this`.
      return typeof value === 'function' ? value.bind(part) : value;
    },
  });
}
