/**
 * The session of the browser: who the user is, and whether the app has to ask for a login. A session has two
 * halves: a cookie, which is shared by all ports of a host, and a proof, which only the app's origin keeps.
 */
import { signal } from '@preact/signals';
import { fetchPatiently } from './patient-fetch.ts';

export interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
  /** Time at which the session ends, in RFC 3339. */
  readonly expires: string;
}

export type Session =
  | { readonly state: 'unknown' }
  /** The connection itself is authenticated, such as by `minik8s ctl proxy`: there is no login. */
  | { readonly state: 'by proxy'; readonly user?: string }
  | { readonly state: 'signed in'; readonly identity: Identity }
  /** `message` is the reason for which a login is required; absent before the first one. */
  | { readonly state: 'signed out'; readonly message?: string };

const path = '/dashboard/session';
const proofKey = 'minik8s-session';

/** Headers that every request of the session carries. */
export function proofHeaders(): Record<string, string> {
  const proof = localStorage.getItem(proofKey);
  return proof === null ? {} : { 'minik8s-session': proof };
}

/** The subprotocols of WebSockets that carry the proof, which browsers cannot send as a header. */
export function proofProtocols(): string[] {
  const proof = localStorage.getItem(proofKey);
  return proof === null ? [] : [`minik8s.session.${proof}`];
}

export const session = signal<Session>({ state: 'unknown' });

/** Requests the session; a one-time code in the address is exchanged for a session first. */
export async function startSession(): Promise<void> {
  const code = takeCode();
  if (code !== undefined) {
    await signIn({ code });
    return;
  }
  const response = await fetchPatiently(path, { headers: { accept: 'application/json', ...proofHeaders() } });
  if (response.status === 404) session.value = { state: 'by proxy' };
  else if (response.ok) session.value = sessionOf((await response.json()) as Partial<Identity>);
  else session.value = { state: 'signed out' };
}

/** An identity that does not expire is that of the connection, such as of a proxy: nobody signed in. */
const sessionOf = ({ user = '', groups = [], expires }: Partial<Identity>): Session =>
  expires === undefined
    ? { state: 'by proxy', user }
    : { state: 'signed in', identity: { user, groups, expires } };

export type Credential = { readonly token: string } | { readonly code: string } | Record<string, never>;

/** Starts a session by a token, a one-time code, or the client certificate of the connection. */
export async function signIn(credential: Credential): Promise<void> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify(credential),
  });
  if (response.ok) {
    const { proof, ...identity } = (await response.json()) as Identity & { readonly proof?: string };
    if (proof !== undefined) localStorage.setItem(proofKey, proof);
    // Objects and rights of the previous session are still in memory.
    if (forgotOthers(identity.user) || hadSession) location.reload();
    else session.value = { state: 'signed in', identity };
    return;
  }
  endSession(await messageOf(response));
}

/** True once a session of this page has ended. */
let hadSession = false;
const userKey = 'minik8s.user';
/** Items of the storage that name objects of the cluster. */
const personalKeys = ['minik8s.recent', 'minik8s.namespace'];

/** Removes from the browser what another user looked at; returns true if there was something. */
function forgotOthers(user: string): boolean {
  const isOther = localStorage.getItem(userKey) !== user;
  const found = isOther ? personalKeys.filter((key) => (localStorage.getItem(key) ?? '') !== '') : [];
  for (const key of found) localStorage.removeItem(key);
  localStorage.setItem(userKey, user);
  return found.length > 0;
}

export async function signOut(): Promise<void> {
  await fetch(path, { method: 'DELETE', headers: proofHeaders() });
  endSession();
}

/** Records that the server no longer accepts the session. */
export function sessionEnded(): void {
  if (session.peek().state === 'signed in') endSession('The session has ended. Sign in again to continue.');
}

function endSession(message?: string): void {
  localStorage.removeItem(proofKey);
  if (session.peek().state === 'signed in') hadSession = true;
  session.value = { state: 'signed out', ...(message !== undefined && { message }) };
}

/** Returns the one-time code of the address and removes it from the address and the history. */
function takeCode(): string | undefined {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined;
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

async function messageOf(response: Response): Promise<string> {
  try {
    const { message } = (await response.json()) as { message?: unknown };
    if (typeof message === 'string' && message !== '') return message;
  } catch {
    // A proxy's page is not JSON; the message then states the status.
  }
  return `The login was refused (${response.status} ${response.statusText}).`;
}
