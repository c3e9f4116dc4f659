/**
 * The dashboard under /dashboard: the app's files, and the sessions with which its pages call the API. What a
 * session's user may do is decided as for any request.
 */
import { newBadRequest, newForbidden, newStatusError, StatusError } from '../../apimachinery/status-error.ts';
import { senderOf } from '../../apiserver/authentication/browser-session.ts';
import { hostOf } from '../../apiserver/authentication/identify.ts';
import type { RequestEnv } from '../../apiserver/options.ts';
import { respond, respondJson, respondText, retryHeader } from '../../apiserver/respond.ts';
import { markPublic } from '../../apiserver/transport/public-answers.ts';
import { sessionCookie } from '../../http/session-cookie.ts';
import type { BrowserSessions, SessionParts } from '../../kube-apiserver/options.ts';
import { AppFiles } from './app-files.ts';
import { pageHeaders, sessionHeaders } from './headers.ts';
import { SignIn } from './sign-in.ts';

const base = '/dashboard';
const sessionPath = `${base}/session`;
const codePath = `${base}/code`;
/** Maximum size of a login in bytes. */
const maxBody = 16 * 1024;

/** `loadFiles` returns the pack of the app's files (asset-pack.ts); called with the first request. */
export const dashboardSessions =
  (loadFiles: () => Uint8Array) =>
  (parts: SessionParts): BrowserSessions => {
    const files = new AppFiles(loadFiles);
    const signIn = new SignIn(parts);
    return {
      authenticate: ({ session }) => session && signIn.userOf(session),
      answerFirst: (request, env) => {
        // Most requests are for the API; these are recognized without parsing the URL.
        if (!request.url.includes(base)) return undefined;
        const { pathname } = new URL(request.url);
        if (pathname !== base && !pathname.startsWith(`${base}/`)) return undefined;
        return answer({ files, signIn, clock: parts.clock }, pathname, request, env);
      },
    };
  };

interface Dashboard extends Pick<SessionParts, 'clock'> {
  readonly files: AppFiles;
  readonly signIn: SignIn;
}

async function answer(
  dashboard: Dashboard,
  pathname: string,
  request: Request,
  env: RequestEnv,
): Promise<Response> {
  if (pathname === base) return respond(308, '', { ...pageHeaders, location: `${base}/` });
  if (pathname !== sessionPath && pathname !== codePath) return file(dashboard, pathname, request);
  try {
    if (senderOf(request.headers, hostOf(request)) === 'other') throw newOtherOrigin();
    const served = pathname === sessionPath ? onSession : onCode;
    return await served(dashboard, request, env);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    const { status } = error;
    return respondJson(
      status.code,
      { message: status.message },
      { ...sessionHeaders, ...retryHeader(status) },
    );
  }
}

async function file({ files }: Dashboard, pathname: string, request: Request): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed('GET, HEAD');
  return markPublic(await files.answer(pathname.slice(base.length + 1), request));
}

async function onSession({ signIn, clock }: Dashboard, request: Request, env: RequestEnv): Promise<Response> {
  switch (request.method) {
    case 'GET':
      return respondJson(200, await signIn.current(request, env), sessionHeaders);
    case 'POST': {
      const { session, user, until } = await signIn.begin(request, env, await bodyOf(request));
      const cookie = setCookie(session.sealed, Math.floor((until - clock.now()) / 1000));
      return respondJson(200, { ...user, proof: session.proof }, { ...sessionHeaders, ...cookie });
    }
    case 'DELETE':
      await signIn.end(request, env);
      return respond(204, null, { ...sessionHeaders, ...setCookie('', 0) });
    default:
      return notAllowed('GET, POST, DELETE');
  }
}

async function onCode({ signIn }: Dashboard, request: Request, env: RequestEnv): Promise<Response> {
  if (request.method !== 'POST') return notAllowed('POST');
  const { code, expires } = await signIn.makeCode(request, env);
  return respondJson(201, { code, expires: new Date(expires).toISOString() }, sessionHeaders);
}

const setCookie = (value: string, seconds: number) => ({
  'set-cookie': `${sessionCookie}=${value}; Path=/; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Strict`,
});

const notAllowed = (allow: string): Response =>
  respondText(405, 'Method Not Allowed\n', { ...pageHeaders, allow });

const newOtherOrigin = () =>
  newForbidden(
    { group: '', plural: 'sessions' },
    '',
    'the request was sent by a page of another origin, or by an address that the browser has opened',
  );

/** Reads a login. A page of another origin cannot send this type without a preflight request. */
async function bodyOf(request: Request): Promise<unknown> {
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    throw newStatusError('UnsupportedMediaType', 'expected a body of the type application/json');
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (!(length <= maxBody))
    throw newStatusError(
      'RequestEntityTooLarge',
      `expected a body with a length of ${maxBody} bytes at most`,
    );
  try {
    return JSON.parse(await request.text());
  } catch {
    throw newBadRequest('the body is not JSON');
  }
}
