/**
 * The admin listener: `GET /metrics` (Prometheus text), `/livez` and `/readyz`, over HTTP. Tells nothing that is secret and
 * changes nothing; like the Kafka listener it is for loopback, unless the caller insists. Main thread; whoever starts it
 * closes it, last of all, so that a host that drains is still seen.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from '../common/lifecycle.ts';
import { type Logger, silentLogger } from '../common/logger.ts';
import type { MetricsRegistry } from '../common/metrics-registry.ts';
import type { Endpoint } from './broker.ts';
import type { HealthReport, HostHealth } from './host-health.ts';
import { checkExposure, formatEndpoint, listen } from './listener.ts';

export interface AdminServerOptions {
  readonly listen: Endpoint;
  /** Allows an address that others can reach. */
  readonly insecure?: boolean;
  readonly metrics: MetricsRegistry;
  readonly health: HostHealth;
  readonly logger?: Logger;
}

export interface AdminServer extends AsyncDisposable {
  readonly listener: Endpoint;
  close(): Promise<void>;
}

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const MAX_CONNECTIONS = 100;
const REQUEST_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 60_000;

interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** @throws ListenError when it cannot listen there, or must not */
export async function startAdminServer(options: AdminServerOptions): Promise<AdminServer> {
  const { insecure = false, logger = silentLogger } = options;
  checkExposure(options.listen, insecure);
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: IDLE_TIMEOUT_MS },
    (request, response) => void answer(options, logger, request, response),
  );
  server.maxConnections = MAX_CONNECTIONS;
  const listener = await listen(server, options.listen);
  logger.info({ listener: formatEndpoint(listener) }, 'the admin listener is open');
  const close = once(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { listener, close, [Symbol.asyncDispose]: close };
}

async function answer(
  options: AdminServerOptions,
  logger: Logger,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let page: Page;
  try {
    page = await pageOf(options, request);
  } catch (err) {
    logger.error({ err, url: request.url }, 'an admin request failed');
    page = text(500, 'failed; the log says why');
  }
  response.writeHead(page.status, { 'content-type': page.type, 'content-length': Buffer.byteLength(page.body) });
  response.end(request.method === 'HEAD' ? undefined : page.body);
  request.resume(); // a body that nobody asked for
}

async function pageOf({ metrics, health }: AdminServerOptions, { method, url }: IncomingMessage): Promise<Page> {
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'GET and HEAD are answered here');
  switch (url?.split('?', 1)[0]) {
    case '/metrics':
      return { status: 200, type: METRICS_TYPE, body: metrics.text() };
    case '/livez':
      return reported(health.live());
    case '/readyz':
      return reported(await health.ready());
    default:
      return text(404, 'there are /metrics, /livez and /readyz');
  }
}

function reported({ ok, lines }: HealthReport): Page {
  return text(ok ? 200 : 503, lines.join('\n'));
}

function text(status: number, body: string): Page {
  return { status, type: TEXT_TYPE, body: `${body}\n` };
}
