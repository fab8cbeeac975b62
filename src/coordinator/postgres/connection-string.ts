/** Connection strings as people write them: what is refused before the client sees it, and what is taken out for us. */
import { closest } from '../../common/closest.ts';
import { CoordinatorError } from '../diskless-coordinator.ts';

/**
 * The client ignores a name that it does not know, and URLs of database services hold such names. But of a misspelt sslmode
 * a connection without TLS would be left.
 */
const PARAMETERS = [
  'user',
  'password',
  'host',
  'port',
  'options',
  'application_name',
  'client_encoding',
  'keepalives',
  'ssl',
  'sslmode',
  'sslrootcert',
  'sslcert',
  'sslkey',
  'sslnegotiation',
  'uselibpqcompat',
];
const SSL_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

function refused(message: string): CoordinatorError {
  return new CoordinatorError('invalid', message);
}

/** Without `//` the client would take all of it, password included, for a host. Messages repeat no value: it may be secret. */
export function checkConnectionString(connectionString: string): void {
  if (!/^postgres(ql)?:\/\//i.test(connectionString) || !URL.canParse(connectionString)) {
    throw refused('postgres://USER@HOST:PORT/DATABASE expected');
  }
  const { searchParams } = new URL(connectionString);
  for (const name of searchParams.keys()) {
    if (PARAMETERS.includes(name)) continue;
    const guess = closest(name.toLowerCase(), PARAMETERS);
    if (guess) throw refused(`unknown parameter ${name} in the connection string; did you mean ${guess}?`);
  }
  const mode = searchParams.get('sslmode');
  if (mode === null || SSL_MODES.includes(mode)) return;
  throw refused(`sslmode in the connection string is one of ${SSL_MODES.join(', ')}`);
}

/** The client lets `options` of a connection string displace its own: they are taken out, to be put before ours. */
export function takeOptions(connectionString: string): {
  readonly connectionString: string;
  readonly options: string;
} {
  if (!/[?&]options=/.test(connectionString)) return { connectionString, options: '' };
  const url = new URL(connectionString);
  const options = `${url.searchParams.getAll('options').join(' ')} `;
  url.searchParams.delete('options');
  return { connectionString: url.href, options };
}
