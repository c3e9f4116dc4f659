/** Whose a request is: by its credentials, or by whom it asks to be answered as. */
import { newUnauthorized } from '../../apimachinery/status-error.ts';
import type { AskedRequest } from '../asked-request.ts';
import type { Authorize } from '../authorization/authorizer.ts';
import { newTooManyRequests } from '../load/shed.ts';
import type { ApiServerOptions, RequestEnv } from '../options.ts';
import { anonymousUser, type UserInfo, unauthenticatedGroup } from '../user.ts';
import { type Field, impersonated, impersonationFields } from './impersonation.ts';

/** Seconds to wait before trying again. */
const tooManyConnectionsSeconds = 5;

/** Who has no Headers says in the RequestEnv whom he asks to be. */
type Sender = Pick<AskedRequest, 'headers'>;
type Options = Pick<ApiServerOptions, 'authenticate' | 'remoteAddressKey'>;

/** The sender of a request; undefined for one who is not known. */
export async function whoAsks(
  request: Sender,
  { user, peer }: RequestEnv,
  { authenticate }: Options,
): Promise<UserInfo | undefined> {
  const authorization = request.headers.get('authorization') ?? undefined;
  return user ?? (await authenticate({ authorization, peer }));
}

/** Wrong credentials are not the same as none. */
const anonymousSender = (request: Sender, { peer, mayBeAnonymous }: RequestEnv): UserInfo | undefined =>
  mayBeAnonymous && !peer && !request.headers.has('authorization')
    ? { name: anonymousUser, groups: [unauthenticatedGroup] }
    : undefined;

/** The headers by which a request asks to be answered as another user's. */
export const fieldsOf = (
  { headers }: Sender,
  { impersonation }: Pick<RequestEnv, 'impersonation'>,
): readonly Field[] => impersonation ?? (headers instanceof Headers ? impersonationFields(headers) : []);

/**
 * Throws 401 for a sender who is not known and has to be, 429 for one with too many connections, and what impersonated() throws. A connection is its
 * sender's, whomever he acts as; everything else is that user's.
 */
export async function identify(
  request: Sender,
  env: RequestEnv,
  options: Options,
  authorize: Authorize,
): Promise<UserInfo> {
  const sender = (await whoAsks(request, env, options)) ?? anonymousSender(request, env);
  if (!sender) throw newUnauthorized();
  if (env.belongsTo?.(sender.name) === false)
    throw newTooManyRequests(`user "${sender.name}" has too many connections`, tooManyConnectionsSeconds);
  const fields = fieldsOf(request, env);
  const user = fields.length > 0 ? await impersonated(sender, fields, authorize) : sender;
  const { remoteAddressKey: key } = options;
  if (!key || !env.remoteAddress) return user;
  // Last, so that nobody gives himself another.
  return { ...user, extra: { ...user.extra, [key]: [env.remoteAddress] } };
}
