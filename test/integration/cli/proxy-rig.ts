/** Proxies of ctl and kubectl, and requests to them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Ctl, noHome, type Result } from '../../fixtures/ctl.ts';
import { kubectlOf } from '../../fixtures/kubectls.ts';

export interface StartedProxy {
  /** Text behind `Starting to serve on `. */
  readonly place: string;
  readonly port: number;
  /** Interrupts the proxy; resolves when it has ended. */
  stop(): Promise<Result | undefined>;
}

const placeIn = (out: string) => /^Starting to serve on (\S+)\n/m.exec(out)?.[1];
const portIn = (place: string) => Number(place.slice(place.lastIndexOf(':') + 1));

/** Resolves when `ctl proxy` serves; rejects if it ends instead. */
export async function startCtl(ctl: Ctl, args: readonly string[]): Promise<StartedProxy> {
  const stopping = new AbortController();
  const started = Promise.withResolvers<string>();
  const onOut = (out: string) => started.resolve(placeIn(out) ?? out);
  const ended = ctl(['proxy', ...args], { signal: stopping.signal, onOut });
  const place = await Promise.race([
    started.promise,
    ended.then(({ err }) => Promise.reject(new Error(`the proxy ended: ${err}`))),
  ]);
  const stop = () => {
    stopping.abort();
    return ended;
  };
  return { place, port: portIn(place), stop };
}

/** Resolves when `kubectl proxy` serves. */
export async function startKubectl(kubeconfig: string, args: readonly string[]): Promise<StartedProxy> {
  const env = { KUBECONFIG: kubeconfig, HOME: noHome, PATH: '' };
  const child = spawn(kubectlOf('1.32')?.path ?? '', ['proxy', ...args], { env, stdio: 'pipe' });
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  const place = placeIn(first.toString()) ?? '';
  const stop = async () => {
    child.kill();
    await once(child, 'close');
    return undefined;
  };
  return { place, port: portIn(place), stop };
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Resolves to the whole answer of a proxy to one request. */
export async function answerOf(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body }: Asked = {},
) {
  const outgoing = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
  outgoing.end(body);
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  return { status: incoming.statusCode, body: await text(incoming), headers: incoming.headers };
}
