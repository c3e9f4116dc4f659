/** Runs a lifecycle hook once (pkg/kubelet/lifecycle handlers). */
import type { LifecycleHandler } from '../../api/core/v1/types.gen.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import { execHandler } from '../probes/handlers/exec.ts';
import { getHttp } from '../probes/handlers/http-get.ts';
import { httpRequest } from '../probes/plan/http-request.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';
import type { RunHook } from './plan/hooks.ts';

export interface HandlerContext {
  readonly runtime: Pick<ContainerRuntime, 'exec'>;
  readonly clock: Clock;
  /** Address of the pod; the node's address for a pod in the host's network. */
  readonly podIP: string;
  /** Called when an HTTPS hook got an HTTP response and the request was repeated without TLS. */
  onFallback(address: string): void;
}

/** The error of a hook that failed. */
export class HookError extends Error {
  override readonly name = 'HookError';
  /** The kind of the hook and its target, worded as in Kubernetes. */
  readonly what: string;
  /** Output of the hook's program. */
  readonly output: string | undefined;

  constructor(what: string, message: string, output?: string) {
    super(message);
    this.what = what;
    this.output = output;
  }
}

/** The engine became unreachable during the hook: the hook's result is unknown, and it must run again. */
export class HookLost extends Error {
  override readonly name = 'HookLost';
}

/** Runs the hook without a timeout, until it ends or the signal aborts. Throws HookError or HookLost. */
export async function runHook(context: HandlerContext, run: RunHook, signal: AbortSignal): Promise<void> {
  const { exec, httpGet, sleep: pause } = run.handler;
  if (exec) return runProgram(context, run.id, exec.command ?? [], signal);
  if (httpGet) return askServer(context, run, httpGet, signal);
  if (!pause) throw new HookError('Cannot run handler', 'invalid handler');
  await sleep(context.clock, pause.seconds * 1000, signal);
}

async function runProgram(
  context: HandlerContext,
  id: string,
  command: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const outcome = await execHandler(context, id, command, undefined, signal);
  const { result, output, exitCode, isLost } = outcome;
  if (result === 'success') return;
  if (isLost) throw new HookLost(output);
  const what = `Exec lifecycle hook ([${command.join(' ')}])`;
  const why = exitCode === undefined ? output : `command '${command.join(' ')}' exited with ${exitCode}`;
  throw new HookError(what, why, exitCode === undefined ? '' : output);
}

type HttpGet = NonNullable<LifecycleHandler['httpGet']>;

/** Sends the request; any response counts as success. */
async function askServer(
  { clock, podIP, onFallback }: HandlerContext,
  { ports }: RunHook,
  action: HttpGet,
  signal: AbortSignal,
): Promise<void> {
  const ask = (one: HttpGet) =>
    getHttp(clock, httpRequest(one, { ports: [...ports] }, podIP, 'lifecycle'), undefined, signal);
  try {
    await ask(action).catch(async (error: Error) => {
      if (action.scheme !== 'HTTPS' || !error.message.includes(answeredInTheClear)) throw error;
      await ask(inTheClear(action));
      onFallback(`${action.host || podIP}:${action.port}`);
    });
  } catch (error) {
    throw new HookError(`HTTP lifecycle hook (${action.path ?? ''})`, (error as Error).message);
  }
}

const answeredInTheClear = 'server gave HTTP response to HTTPS client';

/** Returns the action without TLS and without credentials in its headers. */
const inTheClear = ({ httpHeaders = [], ...action }: HttpGet): HttpGet => ({
  ...action,
  scheme: 'HTTP',
  httpHeaders: httpHeaders.filter(({ name }) => name.toLowerCase() !== 'authorization'),
});
