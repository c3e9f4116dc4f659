/** Determines the user of a request: the owner of its credentials, or the user that it impersonates. */
import { newUnauthorized } from '../../apimachinery/status-error.ts';
import type { Authorize } from '../authorization/authorizer.ts';
import { newTooManyRequests } from '../load/shed.ts';
import type { ApiServerOptions, RequestEnv } from '../options.ts';
import { anonymousUser, countedName, type UserInfo, unauthenticatedGroup } from '../request/user.ts';
import type { AskedRequest } from '../transport/asked-request.ts';
import { isForged, namesSession, sessionOf } from './browser-session.ts';
import { type Field, impersonated, impersonationFields } from './impersonation.ts';

/** Seconds to wait before a retry. */
const tooManyConnectionsSeconds = 5;

/** A request without a Headers object has its impersonation headers in the RequestEnv. */
type Sender = Pick<AskedRequest, 'headers' | 'url'>;
type Options = Pick<ApiServerOptions, 'authenticate' | 'remoteAddressKey'>;

/**
 * Returns the sender of a request; undefined if the sender is not authenticated. A request that belongs to a
 * session has no other credentials: after the end of the session, a certificate of the browser must not
 * continue it as another user.
 */
export async function whoAsks(
  request: Sender,
  { user, peer, expired }: RequestEnv,
  { authenticate }: Options,
): Promise<UserInfo | undefined> {
  if (user) return user;
  const { headers } = request;
  if (namesSession(headers)) {
    const session = sessionOf(headers, hostOf(request));
    return session && (await authenticate({ authorization: undefined, peer: undefined, session }));
  }
  const authorization = headers.get('authorization') ?? undefined;
  const shown = peer && isForged(headers, hostOf(request)) ? undefined : peer;
  return authenticate({ authorization, peer: shown, ...(expired && { expired }) });
}

/** Returns the host and port that the client has sent the request to; HTTP/2 has them only in the URL. */
export const hostOf = ({ headers, url }: Sender): string => headers.get('host') ?? URL.parse(url)?.host ?? '';

/** Returns the anonymous user for a request without credentials. Wrong credentials do not count as none. */
const anonymousSender = (request: Sender, { peer, mayBeAnonymous }: RequestEnv): UserInfo | undefined =>
  mayBeAnonymous && !peer && !request.headers.has('authorization') && !namesSession(request.headers)
    ? { name: anonymousUser, groups: [unauthenticatedGroup] }
    : undefined;

/** Returns the impersonation headers of a request. */
export const fieldsOf = (
  { headers }: Sender,
  { impersonation }: Pick<RequestEnv, 'impersonation'>,
): readonly Field[] => impersonation ?? (headers instanceof Headers ? impersonationFields(headers) : []);

/**
 * Returns the user of the request. Throws 401 for a sender who must be authenticated and is not, 429 for a
 * sender with too many connections, and the errors of impersonated(). A connection counts for its sender,
 * whichever user the sender impersonates; everything else counts for the impersonated user.
 */
export async function identify(
  request: Sender,
  env: RequestEnv,
  options: Options,
  authorize: Authorize,
): Promise<UserInfo> {
  const sender = (await whoAsks(request, env, options)) ?? anonymousSender(request, env);
  if (!sender) throw newUnauthorized();
  if (env.belongsTo?.(countedName(sender.name)) === false)
    throw newTooManyRequests(`user "${sender.name}" has too many connections`, tooManyConnectionsSeconds);
  const fields = fieldsOf(request, env);
  const user = fields.length > 0 ? await impersonated(sender, fields, authorize) : sender;
  const { remoteAddressKey: key } = options;
  if (!key || !env.remoteAddress) return user;
  // Set last, so that no user can set a remote address for itself.
  return { ...user, extra: { ...user.extra, [key]: [env.remoteAddress] } };
}
