/** Addresses: reading them from text, which of them may be listened on, and listening there. */
import { type AddressInfo, createServer, type Server } from 'node:net';
import type { Endpoint } from './broker.ts';

/** The server cannot listen where it was told to, or must not; the message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** `HOST:PORT`, `[IPV6]:PORT`. @throws ListenError */
export function parseEndpoint(text: string): Endpoint {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text.trim());
  const port = Number(match?.[3]);
  if (!match || port > 65_535) {
    throw new ListenError(`"${text}" is not HOST:PORT, for example 127.0.0.1:9092 or [::1]:9092`);
  }
  return { host: match[1] ?? match[2]!, port };
}

export function formatEndpoint({ host, port }: Endpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

const WILDCARDS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '::0', '0']);

/** Whether only this machine can reach it. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Without TLS and SASL, only loopback is listened on unless the caller insists. @throws ListenError */
export function checkExposure(listen: Endpoint, insecure: boolean): void {
  if (!isLoopback(listen.host) && !insecure) {
    throw new ListenError(
      `${formatEndpoint(listen)} can be reached by others, and there is neither encryption nor authentication yet: ` +
        'listen on 127.0.0.1, or allow it with --insecure in a network you trust',
    );
  }
}

/** For a listener of Kafka clients, who must also be told an address that they can connect to. @throws ListenError */
export function checkListener(listen: Endpoint, advertised: Endpoint | undefined, insecure: boolean): void {
  checkExposure(listen, insecure);
  const told = advertised ?? listen;
  if (WILDCARDS.has(told.host)) {
    throw new ListenError(
      `${formatEndpoint(told)} is no address that clients can connect to: name one with --advertised-listener HOST:PORT`,
    );
  }
}

/** What clients are told. An advertised port of 0 stands for the port that is listened on. */
export function advertisedEndpoint(listener: Endpoint, advertised: Endpoint | undefined): Endpoint {
  if (!advertised) return listener;
  return advertised.port === 0 ? { host: advertised.host, port: listener.port } : advertised;
}

/** Begins to listen; resolves with where it does, a port of 0 having become the one that was free. @throws ListenError */
export function listen(server: Server, { host, port }: Endpoint): Promise<Endpoint> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(listenProblem({ host, port }, error));
    server.once('error', onError);
    server.listen({ host, port, exclusive: true }, () => {
      server.off('error', onError);
      resolve({ host, port: (server.address() as AddressInfo).port });
    });
  });
}

/** Whether the address can be listened on now; it is let go again. @throws ListenError */
export async function tryListener(endpoint: Endpoint): Promise<void> {
  const server = createServer();
  await listen(server, endpoint);
  await new Promise<void>((resolve) => server.close(() => resolve()));
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; stop what listens there, or choose another port (0 takes a free one)',
  EACCES: 'permission denied; choose a port above 1023',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

function listenProblem(endpoint: Endpoint, error: NodeJS.ErrnoException): ListenError {
  const reason = REASONS[error.code ?? ''] ?? error.message;
  return new ListenError(`cannot listen on ${formatEndpoint(endpoint)}: ${reason}`, { cause: error });
}
