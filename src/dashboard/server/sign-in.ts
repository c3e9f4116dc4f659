/** Begins and ends sessions, and makes one-time codes. */
import { isRecord } from '../../apimachinery/equality.ts';
import { newBadRequest, newStatusError, newUnauthorized } from '../../apimachinery/status-error.ts';
import type { KnownUser } from '../../apiserver/authentication/authenticator.ts';
import { bearerToken } from '../../apiserver/authentication/bearer-token.ts';
import {
  namesSession,
  type SessionCredentials,
  sessionOf,
} from '../../apiserver/authentication/browser-session.ts';
import { fieldsOf, hostOf } from '../../apiserver/authentication/identify.ts';
import { newTooManyRequests } from '../../apiserver/load/shed.ts';
import type { RequestEnv } from '../../apiserver/options.ts';
import { countedName, type UserInfo } from '../../apiserver/request/user.ts';
import type { SessionParts } from '../../kube-apiserver/options.ts';
import { type Credential, endOfToken, type Lasting } from './credential.ts';
import { type MadeCode, OneTimeCodes } from './one-time-codes.ts';
import { newSession, openSession, type SessionKeys } from './session.ts';

/** Maximum time of a session in milliseconds. */
const sessionMs = 8 * 3_600_000;
/** Maximum number of codes that are looked up at the same time, since anyone may send one. */
const maxRedeeming = 16;

/** The user of a session, as the app shows it. */
export interface SessionUser {
  readonly user: string;
  readonly groups: readonly string[];
  /** End of the session, RFC 3339; absent for a request with credentials of its own. */
  readonly expires?: string;
}

export interface Begun {
  readonly session: SessionCredentials;
  readonly user: SessionUser;
  readonly until: number;
}

export class SignIn {
  readonly #parts: SessionParts;
  readonly #keys: SessionKeys;
  readonly #codes: OneTimeCodes;
  readonly #log: SessionParts['log'];
  #redeeming = 0;

  constructor(parts: SessionParts) {
    const { accountKeys: keys, clock, store, log } = parts;
    this.#parts = parts;
    this.#keys = { keys, now: () => clock.now() };
    this.#codes = new OneTimeCodes(store, clock);
    this.#log = log.named('dashboard');
  }

  /** Returns the user of a session, checked now; undefined if the session or its credential is over. */
  async userOf(session: SessionCredentials): Promise<KnownUser | undefined> {
    const content = openSession(session, this.#keys);
    return content && this.#check(content.credential);
  }

  /** Begins a session from the body of a request. Throws 400 and 401. */
  async begin(request: Request, env: RequestEnv, body: unknown): Promise<Begun> {
    requireOwnName(request, env);
    const { by, content } = await this.#offered(env, body);
    const user = content && (await this.#check(content.credential));
    if (!user) throw newRefused(by);
    const until = Math.min(content.until, this.#keys.now() + sessionMs);
    const session = newSession({ ...content, until }, this.#keys);
    if (!session) throw newBadRequest('the token is too long for the cookie of a session: use a shorter one');
    requireConnection(user, env);
    this.#log.info('a session began', { user: user.name, by, address: env.remoteAddress });
    return { session, user: shown(user, until), until };
  }

  /** Returns the user of the request. Throws 401. */
  async current(request: Request, env: RequestEnv): Promise<SessionUser> {
    requireOwnName(request, env);
    const session = sessionOf(request.headers, hostOf(request));
    const content = session && openSession(session, this.#keys);
    if (content) {
      const user = await this.#check(content.credential);
      if (user) {
        requireConnection(user, env);
        return shown(user, content.until);
      }
    }
    const own = await this.#own(request, env);
    if (!own) throw newUnauthorized();
    requireConnection(own.user, env);
    return shown(own.user);
  }

  /** Logs the end of a session, if the request has a valid one. */
  async end(request: Request, env: RequestEnv): Promise<void> {
    const session = sessionOf(request.headers, hostOf(request));
    const user = session && (await this.userOf(session));
    if (user) this.#log.info('a session ended', { user: user.name, address: env.remoteAddress });
  }

  /**
   * Makes a one-time code from the credentials of the request. Throws 401 for a request without credentials
   * of its own, such as one of a session, which must not extend itself.
   */
  async makeCode(request: Request, env: RequestEnv): Promise<MadeCode> {
    requireOwnName(request, env);
    const own = await this.#own(request, env);
    if (!own) throw newUnauthorized();
    const { user, credential } = own;
    const until = Math.min(this.#keys.now() + sessionMs, endOf(credential, env));
    const made = await this.#codes.make(user.name, { credential, until });
    this.#log.info('made a one-time code', { user: user.name, address: env.remoteAddress });
    return made;
  }

  /** Returns the credentials of a request besides a session, and their user. */
  async #own({ headers }: Request, { peer }: RequestEnv): Promise<Own | undefined> {
    if (namesSession(headers)) return undefined;
    const user = peer && (await this.#parts.authenticate({ authorization: undefined, peer }));
    if (user) return { user, credential: { user: bare(user) } };
    const token = bearerToken(headers.get('authorization') ?? undefined);
    const owner = token === undefined ? undefined : await this.#check({ token });
    return token !== undefined && owner ? { user: owner, credential: { token } } : undefined;
  }

  async #check(credential: Credential): Promise<KnownUser | undefined> {
    if ('user' in credential) return credential.user;
    return this.#parts.authenticate({ authorization: `Bearer ${credential.token}`, peer: undefined });
  }

  async #offered(env: RequestEnv, body: unknown): Promise<Offered> {
    const { token, code, ...rest } = isRecord(body) ? body : { rest: body };
    if (Object.keys(rest).length > 0 || (token !== undefined && code !== undefined)) throw newMalformed();
    if (token !== undefined) return { by: 'token', content: fromToken(token) };
    if (code !== undefined) return { by: 'code', content: await this.#redeem(code) };
    const user = env.peer && (await this.#parts.authenticate({ authorization: undefined, peer: env.peer }));
    if (!user) return { by: 'certificate', content: undefined };
    const credential = { user: bare(user) };
    return { by: 'certificate', content: { credential, until: endOf(credential, env) } };
  }

  async #redeem(code: unknown): Promise<Lasting | undefined> {
    if (typeof code !== 'string') throw newMalformed();
    if (!/^[\w-]{43}$/.test(code)) return undefined;
    if (this.#redeeming >= maxRedeeming) throw newTooManyRequests('too many logins at once', 1);
    this.#redeeming++;
    try {
      return await this.#codes.redeem(code);
    } finally {
      this.#redeeming--;
    }
  }
}

/** Assigns the connection to the user. Throws 429 for a user with too many connections. */
function requireConnection({ name }: UserInfo, { belongsTo }: RequestEnv): void {
  if (belongsTo?.(countedName(name)) === false)
    throw newTooManyRequests(`user "${name}" has too many connections`, 5);
}

type Way = 'token' | 'code' | 'certificate';

interface Own {
  readonly user: KnownUser;
  readonly credential: Credential;
}

interface Offered {
  readonly by: Way;
  readonly content: Lasting | undefined;
}

function fromToken(token: unknown): Lasting | undefined {
  if (typeof token !== 'string') throw newMalformed();
  // Other characters cannot be in a header.
  if (!/^[\x21-\x7e]+$/.test(token)) return undefined;
  return { credential: { token }, until: endOfToken(token) };
}

const endOf = (credential: Credential, { peer }: RequestEnv): number =>
  'token' in credential ? endOfToken(credential.token) : (peer?.notAfter ?? Number.POSITIVE_INFINITY);

/** Returns the fields of a user that a session keeps. */
const bare = ({ name, uid, groups, extra }: UserInfo): UserInfo => ({
  name,
  groups,
  ...(uid !== undefined && { uid }),
  ...(extra && { extra }),
});

const shown = ({ name, groups }: UserInfo, until?: number): SessionUser => ({
  user: name,
  groups,
  ...(until !== undefined && { expires: new Date(until).toISOString() }),
});

/** Throws if the request impersonates a user: the session would not show who has begun it. */
function requireOwnName(request: Request, env: RequestEnv): void {
  if (fieldsOf(request, env).length > 0)
    throw newBadRequest(
      'the dashboard has no sessions of impersonated users: leave out --as and its headers',
    );
}

const refusals: Readonly<Record<Way, string>> = {
  token: 'the token is not valid, or has expired',
  code: 'the code is not valid: it has been used, or is older than a minute; run minik8s ctl dashboard again',
  certificate: 'the browser has sent no valid client certificate: send a token or a code',
};

const newRefused = (by: Way) => newStatusError('Unauthorized', refusals[by]);
const newMalformed = () =>
  newBadRequest('expected {"token": "…"}, {"code": "…"}, or {} with a client certificate');
