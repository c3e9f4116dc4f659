/** The connection flags: the server, the user and the timeout. */
import type { Clock } from '../../base/clock.ts';
import { UsageError } from '../../base/usage-error.ts';
import { pluginCall } from '../../client/exec-credential.ts';
import type { Headers } from '../../client/https-transport.ts';
import { empty, type Kubeconfig } from '../../client/kubeconfig.ts';
import {
  type ConnectionOverrides,
  type ResolvedContext,
  resolveContext,
} from '../../client/kubeconfig-connection.ts';
import type { Impersonated } from '../../client/kubeconfig-user.ts';
import type { ApiRequest, ApiResponse, Transport } from '../../client/transport.ts';
import { connectionFlags, type Flags } from '../flags/flags.ts';
import type { Io } from '../io.ts';
import { findKubeconfig } from './find-kubeconfig.ts';

/** Returns the server and the credentials of the context, with the flags applied. Throws UsageError. */
export function resolveConnection(io: Pick<Io, 'env' | 'homeDirectory'>, flags: Flags): ResolvedContext {
  const overrides = overridesOf(flags);
  return resolveContext(
    kubeconfigOf(io, flags, overrides),
    flags.text('context'),
    overrides,
    (exec, user, cluster) => pluginCall(exec, user, cluster, process.stdin.isTTY),
  );
}

/** No kubeconfig is needed if the flags name the server. */
function kubeconfigOf(
  io: Pick<Io, 'env' | 'homeDirectory'>,
  flags: Flags,
  { server }: ConnectionOverrides,
): Kubeconfig {
  const given = flags.text('kubeconfig');
  try {
    return findKubeconfig(io, given);
  } catch (error) {
    if (error instanceof UsageError && server !== undefined && given === undefined) return empty;
    throw error;
  }
}

/**
 * Returns the namespace of --namespace; undefined without the flag, or if its value is empty, as it is in a
 * script whose variable is not set. Throws UsageError if the value cannot be part of a path.
 */
export function givenNamespace(flags: Flags): string | undefined {
  const name = flags.text('namespace');
  if (!name) return undefined;
  if (name === '.' || name === '..')
    throw new UsageError(`invalid namespace "${name}": [may not be '${name}']`);
  const wrong = ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
  if (wrong.length > 0) throw new UsageError(`invalid namespace "${name}": [${wrong.join(' ')}]`);
  return name;
}

const texts = {
  cluster: 'cluster',
  user: 'user',
  server: 'server',
  certificateAuthority: 'certificate-authority',
  tlsServerName: 'tls-server-name',
  token: 'token',
  clientCertificate: 'client-certificate',
  clientKey: 'client-key',
  proxyUrl: 'proxy-url',
} as const;

function overridesOf(flags: Flags): ConnectionOverrides {
  const given = Object.entries(texts).flatMap(([field, flag]) => {
    const text = flags.isOf(connectionFlags, flag) ? flags.text(flag) : undefined;
    return text ? [[field, text]] : [];
  });
  const skips = flags.on('insecure-skip-tls-verify') && { insecureSkipTlsVerify: true };
  return { ...Object.fromEntries(given), ...skips };
}

/**
 * Returns the headers of impersonation; empty without --as, unless the kubeconfig impersonates a user. A flag
 * takes the place of the same field of the kubeconfig. Throws UsageError.
 */
export function impersonation(flags: Flags, own?: Impersonated): Headers {
  const { user, uid, groups = [], extra = {} } = impersonatedUser(flags, own);
  if (!user) {
    if (uid || groups.length > 0 || Object.keys(extra).length > 0)
      throw new UsageError('--as-group, --as-uid and --as-user-extra need --as: say as which user');
    return {};
  }
  return {
    'impersonate-user': headerText('as', user),
    ...(uid && { 'impersonate-uid': headerText('as-uid', uid) }),
    ...(groups.length > 0 && { 'impersonate-group': groups.map((group) => headerText('as-group', group)) }),
    ...extraHeaders(extra),
  };
}

function impersonatedUser(flags: Flags, own?: Impersonated): Partial<Impersonated> {
  const [user, uid, groups] = [flags.text('as'), flags.text('as-uid'), flags.texts('as-group')];
  const extra = extraOf(flags.texts('as-user-extra'));
  return {
    ...own,
    ...(user && { user }),
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && { extra }),
  };
}

/** Returns the values by key of texts such as `scopes=view`; undefined if there are none. */
function extraOf(texts: readonly string[]): Readonly<Record<string, readonly string[]>> | undefined {
  if (texts.length === 0) return undefined;
  const extra = new Map<string, string[]>();
  for (const text of texts) {
    const at = text.indexOf('=');
    if (at < 1) throw new UsageError(`--as-user-extra ${text}: expected KEY=VALUE`);
    extra.getOrInsert(text.slice(0, at).toLowerCase(), []).push(text.slice(at + 1));
  }
  return Object.fromEntries(extra);
}

const extraHeaders = (extra: NonNullable<Impersonated['extra']>): Headers =>
  Object.fromEntries(
    Object.entries(extra).map(([key, values]) => [
      `impersonate-extra-${encodeURIComponent(key).replaceAll('(', '%28').replaceAll(')', '%29')}`,
      values.map((value) => headerText('as-user-extra', value)),
    ]),
  );

/** Encodes the text as bytes of UTF-8, as kubectl writes it. */
function headerText(flag: string, text: string): string {
  if (/\p{Cc}/u.test(text)) throw new UsageError(`--${flag}: expected text without control characters`);
  return Buffer.from(text).toString('latin1');
}

/**
 * Returns the timeout in milliseconds; undefined for none, and for an empty value, as it is in a script whose
 * variable is not set. Throws UsageError.
 */
export const requestTimeout = (flags: Flags): number | undefined =>
  flags.text('request-timeout') === '' ? undefined : flags.duration('request-timeout') || undefined;

/** A request that took longer than --request-timeout. */
export class RequestTimeoutError extends Error {
  override readonly name = 'RequestTimeoutError';
}

/** Ends each request, including the reading of its answer, after `ms` milliseconds. */
export function withTimeout(transport: Transport, ms: number, clock: Clock): Transport {
  return {
    async request(request) {
      const late = new AbortController();
      const why = `${request.method} ${request.path.split('?', 1)[0]}: no whole answer within ${ms / 1000} s (--request-timeout)`;
      const timer = clock.after(ms, () => late.abort(new RequestTimeoutError(why)));
      try {
        return whole(await transport.request(until(request, late.signal)), () => timer.cancel());
      } catch (error) {
        timer.cancel();
        throw error;
      }
    },
    close: () => transport.close(),
  };
}

const until = (request: ApiRequest, late: AbortSignal): ApiRequest => ({
  ...request,
  signal: request.signal ? AbortSignal.any([request.signal, late]) : late,
});

function whole(response: ApiResponse, done: () => void): ApiResponse {
  async function* body() {
    try {
      yield* response.body;
    } finally {
      done();
    }
  }
  return { status: response.status, header: (name) => response.header(name), body: body() };
}
