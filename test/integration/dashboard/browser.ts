/** Requests as a page of the dashboard sends them: with session cookie, session proof and origin. */
import type { RequestEnv } from '../../../src/apiserver/options.ts';
import { writePack } from '../../../src/dashboard/server/asset-pack.ts';
import { dashboardSessions } from '../../../src/dashboard/server/dashboard.ts';
import type { TestServer } from '../../fixtures/api-server.ts';

export const origin = 'https://apiserver:6443';

/** Returns dashboard sessions of an app without files. */
export const noFiles = () => dashboardSessions(() => writePack([]));

/** The cookie and the proof of a session, as a browser keeps them. */
export interface Kept {
  readonly cookie: string;
  readonly proof: string;
}

export interface Ask {
  readonly method?: string;
  readonly kept?: Partial<Kept>;
  readonly body?: unknown;
  /** Headers besides those that a page of the dashboard sends; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly env?: RequestEnv;
}

type App = Pick<TestServer, 'app'>;

/** Sends a request as a page of the dashboard does. */
export async function ask(
  { app }: App,
  path: string,
  { method = 'GET', ...more }: Ask = {},
): Promise<Response> {
  const { kept = {}, body, headers = {}, env = {} } = more;
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
  const all: Record<string, string | undefined> = {
    host: new URL(origin).host,
    'sec-fetch-site': 'same-origin',
    ...(method !== 'GET' && { origin }),
    ...(text !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    }),
    ...(kept.cookie !== undefined && { cookie: kept.cookie }),
    ...(kept.proof !== undefined && { 'minik8s-session': kept.proof }),
    ...headers,
  };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return app.fetch(
    new Request(`${origin}${path}`, { method, headers: sent, ...(text !== undefined && { body: text }) }),
    env,
  );
}

/** Returns the cookie and the proof of the session that an answer begins. */
export async function keep(answer: Response): Promise<Kept> {
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  const { proof } = (await answer.json()) as { proof: string };
  return { cookie, proof };
}

export const login = (server: App, body: unknown, more: Ask = {}): Promise<Response> =>
  ask(server, '/dashboard/session', { method: 'POST', body, ...more });

/** Returns the message of a refusal. */
export const messageOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { message: string }).message;
